// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReadExact: fills a buffer, however many reads it takes.
//
//   char header[16];
//   absl::Status status = co_await io::ReadExact(stream, header);
//
// The end of the stream before the buffer is full is an error, kOutOfRange;
// each error says how many bytes were read before it.
//
// Thread safety: one reader of a stream at a time.
// Lifetime: stream, buffer and cursor outlive the future.
// Dropping: what was read so far is in the buffer and gone from the stream; the
// cursor says how much, and another ReadExact with it goes on from there.
#ifndef WEFT_IO_READ_EXACT_H_
#define WEFT_IO_READ_EXACT_H_

#include <stddef.h>

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/async_io.h"
#include "weft/io/cursor.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {
namespace io_internal {

template <AsyncRead R>
Polled<absl::Status> PollReadExact(R& stream, ReadCursor& cursor, Context& cx) {
  while (!cursor.rest().empty()) {
    Polled<absl::StatusOr<size_t>> n = stream.PollRead(cx, cursor.rest());
    if (n.IsPending()) return kPending;
    if (!n->ok()) {
      return AddProgress(n->status(), cursor.done(), cursor.size());
    }
    if (**n == 0) return EndOfStreamStatus(cursor.done(), cursor.size());
    cursor.Advance(**n);
  }
  return absl::OkStatus();
}

}  // namespace io_internal

template <AsyncRead R>
class [[nodiscard]] ReadExactFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  ReadExactFuture(R& stream, ReadCursor& cursor)
      : stream_(&stream), cursor_(&cursor) {}

  Polled<absl::Status> Poll(Context& cx) {
    return io_internal::PollReadExact(*stream_, *cursor_, cx);
  }

 private:
  R* stream_;
  ReadCursor* cursor_;
};

// The same with a cursor of its own.
template <AsyncRead R>
class [[nodiscard]] ReadExactBufferFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  ReadExactBufferFuture(R& stream, std::span<char> to)
      : stream_(&stream), cursor_(to) {}

  Polled<absl::Status> Poll(Context& cx) {
    return io_internal::PollReadExact(*stream_, cursor_, cx);
  }
  const ReadCursor& cursor() const { return cursor_; }

 private:
  R* stream_;
  ReadCursor cursor_;
};

// Fills the rest of `cursor`.
template <AsyncRead R>
ReadExactFuture<R> ReadExact(R& stream, ReadCursor& cursor) {
  return ReadExactFuture<R>(stream, cursor);
}

// Fills `to`.
template <AsyncRead R>
ReadExactBufferFuture<R> ReadExact(R& stream, std::span<char> to) {
  return ReadExactBufferFuture<R>(stream, to);
}

}  // namespace weft::io

#endif  // WEFT_IO_READ_EXACT_H_
