// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendFilePart: a part of a file, as fast as the client takes it.
//
// Errors, after which the client still waits for the rest, so that the
// connection has to be closed: DeadlineExceeded if not one byte is taken for
// `patience`; DataLoss if the file ends before the part does; those of the
// stream and of the file.
//
// Thread safety: one writer of a stream at a time.
// Lifetime: stream and file outlive the task.
// Dropping: some of the part has been sent.
#ifndef WEFT_EXAMPLES_HTTP_SEND_FILE_PART_H_
#define WEFT_EXAMPLES_HTTP_SEND_FILE_PART_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/examples/http/byte_range.h"
#include "weft/examples/http/send_text.h"
#include "weft/fs/file.h"
#include "weft/io/async_io.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/task.h"

namespace http {

// Over a TCP connection: the system sends it, no byte comes here.
weft::Task<absl::Status> SendFilePart(weft::net::TcpStream& stream,
                                      const weft::fs::File& file,
                                      ByteRange part, absl::Duration patience);

// Over any other stream: piece by piece.
template <weft::io::AsyncWrite Stream>
weft::Task<absl::Status> SendFilePart(Stream& stream,
                                      const weft::fs::File& file,
                                      ByteRange part, absl::Duration patience) {
  constexpr uint64_t kPiece = 64 << 10;
  std::vector<char> buffer(std::min(part.length, kPiece));
  while (part.length > 0) {
    const std::span<char> piece =
        std::span(buffer).first(std::min(part.length, kPiece));
    const absl::StatusOr<size_t> n = co_await file.ReadAt(part.offset, piece);
    if (!n.ok()) co_return n.status();
    if (*n == 0) co_return absl::DataLossError("");
    const std::string_view text(piece.data(), *n);
    const absl::Status sent = co_await SendText(stream, text, patience);
    if (!sent.ok()) co_return sent;
    part.offset += *n;
    part.length -= *n;
  }
  co_return absl::OkStatus();
}

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_SEND_FILE_PART_H_
