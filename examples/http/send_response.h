// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendResponse: a response, as fast as the client takes it.
//
// A small file goes out with the head in one piece, a large one after it. So a
// slow client costs little memory, whatever it asked for.
//
// Thread safety: one writer of a stream at a time.
// Lifetime: stream and response outlive the task.
// Dropping: some of the response has been sent.
#ifndef WEFT_EXAMPLES_HTTP_SEND_RESPONSE_H_
#define WEFT_EXAMPLES_HTTP_SEND_RESPONSE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/examples/http/byte_range.h"
#include "weft/examples/http/response.h"
#include "weft/examples/http/send_file_part.h"
#include "weft/examples/http/send_text.h"
#include "weft/io/async_io.h"
#include "weft/task/task.h"

namespace http {

// Writes `head`, then the body of `response` if `with_body`. Errors, after
// which the connection has to be closed: those of SendText and SendFilePart.
template <weft::io::AsyncWrite Stream>
weft::Task<absl::Status> SendResponse(Stream& stream, std::string head,
                                      const Response& response, bool with_body,
                                      absl::Duration patience) {
  constexpr uint64_t kSmall = 16 << 10;
  ByteRange part = response.part();
  if (with_body) head += response.text();
  if (!with_body || !response.file().has_value()) part.length = 0;

  if (part.length > 0 && part.length <= kSmall) {
    const size_t head_size = head.size();
    head.resize(head_size + part.length);
    const absl::StatusOr<size_t> n = co_await response.file()->ReadAt(
        part.offset, std::span(head).subspan(head_size));
    if (!n.ok()) co_return n.status();
    if (*n < part.length) co_return absl::DataLossError("");
    part.length = 0;
  }
  const absl::Status sent = co_await SendText(stream, head, patience);
  if (!sent.ok() || part.length == 0) co_return sent;
  co_return co_await SendFilePart(stream, *response.file(), part, patience);
}

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_SEND_RESPONSE_H_
