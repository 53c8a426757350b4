// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Read: some bytes of a stream.
//
//   char buffer[4096];
//   absl::StatusOr<size_t> n = co_await io::Read(stream, buffer);
//   if (n.ok() && *n == 0) ...  // the end
//
// Thread safety: one reader of a stream at a time.
// Lifetime: stream and buffer outlive the future.
// Dropping: loses nothing; what was not read stays in the stream.
#ifndef WEFT_IO_READ_H_
#define WEFT_IO_READ_H_

#include <stddef.h>

#include <span>

#include "absl/status/statusor.h"
#include "weft/io/async_io.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

template <AsyncRead R>
class [[nodiscard]] ReadFuture {
 public:
  using Output = absl::StatusOr<size_t>;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  ReadFuture(R& stream, std::span<char> to) : stream_(&stream), to_(to) {}

  Polled<Output> Poll(Context& cx) { return stream_->PollRead(cx, to_); }

 private:
  R* stream_;
  std::span<char> to_;
};

// At least one byte and at most to.size(); 0 at the end of the stream (or if
// `to` is empty).
template <AsyncRead R>
ReadFuture<R> Read(R& stream, std::span<char> to) {
  return ReadFuture<R>(stream, to);
}

}  // namespace weft::io

#endif  // WEFT_IO_READ_H_
