// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WriteAll: writes every byte, however many writes it takes.
//
//   absl::Status status = co_await io::WriteAll(stream, response);
//
// Each error says how many bytes were accepted before it. Nothing is flushed.
//
// Thread safety: one writer of a stream at a time.
// Lifetime: stream, bytes and cursor outlive the future.
// Dropping: some bytes may have been written; the cursor says how many, and
// another WriteAll with it goes on from there.
#ifndef WEFT_IO_WRITE_ALL_H_
#define WEFT_IO_WRITE_ALL_H_

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

template <AsyncWrite W>
Polled<absl::Status> PollWriteAll(W& stream, WriteCursor& cursor, Context& cx) {
  while (!cursor.rest().empty()) {
    Polled<absl::StatusOr<size_t>> n = stream.PollWrite(cx, cursor.rest());
    if (n.IsPending()) return kPending;
    if (!n->ok()) {
      return AddProgress(n->status(), cursor.done(), cursor.size());
    }
    cursor.Advance(**n);
  }
  return absl::OkStatus();
}

}  // namespace io_internal

template <AsyncWrite W>
class [[nodiscard]] WriteAllFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  WriteAllFuture(W& stream, WriteCursor& cursor)
      : stream_(&stream), cursor_(&cursor) {}

  Polled<absl::Status> Poll(Context& cx) {
    return io_internal::PollWriteAll(*stream_, *cursor_, cx);
  }

 private:
  W* stream_;
  WriteCursor* cursor_;
};

// The same with a cursor of its own.
template <AsyncWrite W>
class [[nodiscard]] WriteAllBufferFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  WriteAllBufferFuture(W& stream, std::span<const char> from)
      : stream_(&stream), cursor_(from) {}

  Polled<absl::Status> Poll(Context& cx) {
    return io_internal::PollWriteAll(*stream_, cursor_, cx);
  }
  const WriteCursor& cursor() const { return cursor_; }

 private:
  W* stream_;
  WriteCursor cursor_;
};

// Writes the rest of `cursor`.
template <AsyncWrite W>
WriteAllFuture<W> WriteAll(W& stream, WriteCursor& cursor) {
  return WriteAllFuture<W>(stream, cursor);
}

// Writes `from`.
template <AsyncWrite W>
WriteAllBufferFuture<W> WriteAll(W& stream, std::span<const char> from) {
  return WriteAllBufferFuture<W>(stream, from);
}

// A string literal as a span has its NUL: write std::string_view("...").
template <AsyncWrite W, size_t n>
WriteAllBufferFuture<W> WriteAll(W& stream, const char (&literal)[n]) = delete;
template <AsyncWrite W, size_t n>
WriteAllBufferFuture<W> WriteAll(W& stream, char (&buffer)[n]) {
  return WriteAllBufferFuture<W>(stream, buffer);
}

}  // namespace weft::io

#endif  // WEFT_IO_WRITE_ALL_H_
