// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Write, Flush, Shutdown: the single steps of writing to a stream.
//
// Most callers want WriteAll (io/write_all.h), then Flush or Shutdown.
//
// Thread safety: one writer of a stream at a time.
// Lifetime: stream and bytes outlive the future.
// Dropping: of a Write, none of its bytes was accepted. Of a Flush or Shutdown,
// some may have been passed on; call it again to finish.
#ifndef WEFT_IO_WRITE_H_
#define WEFT_IO_WRITE_H_

#include <stddef.h>

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/async_io.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

template <AsyncWrite W>
class [[nodiscard]] WriteFuture {
 public:
  using Output = absl::StatusOr<size_t>;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  WriteFuture(W& stream, std::span<const char> from)
      : stream_(&stream), from_(from) {}

  Polled<Output> Poll(Context& cx) { return stream_->PollWrite(cx, from_); }

 private:
  W* stream_;
  std::span<const char> from_;
};

template <AsyncWrite W>
class [[nodiscard]] FlushFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  explicit FlushFuture(W& stream) : stream_(&stream) {}

  Polled<Output> Poll(Context& cx) { return stream_->PollFlush(cx); }

 private:
  W* stream_;
};

template <AsyncWrite W>
class [[nodiscard]] ShutdownFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  explicit ShutdownFuture(W& stream) : stream_(&stream) {}

  Polled<Output> Poll(Context& cx) { return stream_->PollShutdown(cx); }

 private:
  W* stream_;
};

// Writes at least one byte of `from` (unless it is empty) and says how many.
template <AsyncWrite W>
WriteFuture<W> Write(W& stream, std::span<const char> from) {
  return WriteFuture<W>(stream, from);
}

// A string literal as a span has its NUL: write std::string_view("...").
template <AsyncWrite W, size_t n>
WriteFuture<W> Write(W& stream, const char (&literal)[n]) = delete;
template <AsyncWrite W, size_t n>
WriteFuture<W> Write(W& stream, char (&buffer)[n]) {
  return WriteFuture<W>(stream, buffer);
}

// Hands everything that was accepted on to what is below the stream.
template <AsyncWrite W>
FlushFuture<W> Flush(W& stream) {
  return FlushFuture<W>(stream);
}

// Flushes and ends the stream: the other side reads its end.
template <AsyncWrite W>
ShutdownFuture<W> Shutdown(W& stream) {
  return ShutdownFuture<W>(stream);
}

}  // namespace weft::io

#endif  // WEFT_IO_WRITE_H_
