// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/send_file_part.h"

#include "weft/net/send_file.h"
#include "weft/timer/timeout.h"

namespace http {

weft::Task<absl::Status> SendFilePart(weft::net::TcpStream& stream,
                                      const weft::fs::File& file,
                                      ByteRange part, absl::Duration patience) {
  weft::net::SendFileFuture sending = weft::net::SendFile(
      stream, file.native_handle(), part.offset, part.length);
  for (;;) {
    const uint64_t before = sending.sent();
    // A future that stays here goes on after a timeout.
    const absl::StatusOr<uint64_t> sent =
        co_await weft::timer::Timeout(patience, sending);
    if (absl::IsDeadlineExceeded(sent.status()) && sending.sent() > before) {
      continue;
    }
    if (!sent.ok()) co_return sent.status();
    if (*sent < part.length) co_return absl::DataLossError("");
    co_return absl::OkStatus();
  }
}

}  // namespace http
