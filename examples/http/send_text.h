// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendText: some bytes, as fast as the client takes them.
//
// Thread safety: one writer of a stream at a time.
// Lifetime: stream and text outlive the task.
// Dropping: some of the text has been sent.
#ifndef WEFT_EXAMPLES_HTTP_SEND_TEXT_H_
#define WEFT_EXAMPLES_HTTP_SEND_TEXT_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/io/async_io.h"
#include "weft/io/write.h"
#include "weft/task/task.h"
#include "weft/timer/timeout.h"

namespace http {

// Writes `text`. DeadlineExceeded if not one byte is taken for `patience`.
template <weft::io::AsyncWrite Stream>
weft::Task<absl::Status> SendText(Stream& stream, std::string_view text,
                                  absl::Duration patience) {
  while (!text.empty()) {
    const absl::StatusOr<size_t> n = co_await weft::timer::Timeout(
        patience, weft::io::Write(stream, std::span<const char>(text)));
    if (!n.ok()) co_return n.status();
    text.remove_prefix(*n);
  }
  co_return absl::OkStatus();
}

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_SEND_TEXT_H_
