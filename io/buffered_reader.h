// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BufferedReader: reads a stream in large pieces, hands it out in small ones.
//
//   io::BufferedReader reader(socket);      // or over an owned stream
//   while (true) {
//     absl::StatusOr<std::optional<std::string>> line =
//         co_await reader.ReadLine(8192);
//     if (!line.ok()) co_return line.status();
//     if (!line->has_value()) break;        // the end
//     Handle(**line);
//   }
//
// State: a buffer that holds what was read and not yet taken. It starts at
// 8 KiB and grows only for a line that is longer, up to the given maximum.
//
// Thread safety: one task at a time.
// Lifetime: a stream that was given by reference outlives the reader.
// Dropping: of any pending call, no byte is lost; the next call, of any kind,
// finds what had been read. Of the reader: what is in buffer() is lost.
#ifndef WEFT_IO_BUFFERED_READER_H_
#define WEFT_IO_BUFFERED_READER_H_

#include <stddef.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/async_io.h"
#include "weft/io/read_buffer.h"
#include "weft/task/borrow.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

template <class R>
class ReadUntilFuture;

// R is a stream (owned) or a reference to one.
template <class R>
  requires AsyncRead<std::remove_reference_t<R>>
class BufferedReader {
 public:
  static constexpr bool kBorrows =
      std::is_reference_v<R> || weft::kBorrows<std::remove_reference_t<R>>;

  explicit BufferedReader(R&& stream) : stream_(std::forward<R>(stream)) {}

  std::remove_reference_t<R>& stream() { return stream_; }

  // What was read and not yet taken. Valid until the next read.
  std::span<const char> buffer() const { return buffer_.data(); }
  // Takes the first `n` bytes. Requires: n <= buffer().size().
  void Consume(size_t n) { buffer_.Consume(n); }

  // Reads more into the buffer, once. False at the end of the stream.
  Polled<absl::StatusOr<bool>> PollFill(Context& cx) {
    Polled<absl::StatusOr<size_t>> n = stream_.PollRead(cx, buffer_.Space());
    if (n.IsPending()) return kPending;
    if (!n->ok()) return absl::StatusOr<bool>(n->status());
    buffer_.Added(**n);
    return absl::StatusOr<bool>(**n != 0);
  }

  // AsyncRead: from the buffer if it has anything; into a large `to` directly.
  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to) {
    if (to.empty()) return absl::StatusOr<size_t>(0);
    if (buffer_.data().empty()) {
      if (to.size() >= ReadBuffer::kInitialSize) {
        return stream_.PollRead(cx, to);
      }
      Polled<absl::StatusOr<bool>> filled = PollFill(cx);
      if (filled.IsPending()) return kPending;
      if (!filled->ok()) return absl::StatusOr<size_t>(filled->status());
    }
    return absl::StatusOr<size_t>(buffer_.Take(to));
  }

  // The bytes up to and with the first `delimiter`. At the end of the stream:
  // the bytes that were left, then nullopt. If there is none within the first
  // `maximum` bytes: kResourceExhausted, and they stay in the buffer.
  ReadUntilFuture<R> ReadUntil(char delimiter, size_t maximum) {
    return ReadUntilFuture<R>(*this, delimiter, maximum, /*strip=*/false);
  }

  // The bytes before the first newline, which is taken, too, as is a carriage
  // return before it; the rest as ReadUntil.
  ReadUntilFuture<R> ReadLine(size_t maximum) {
    return ReadUntilFuture<R>(*this, '\n', maximum, /*strip=*/true);
  }

 private:
  friend ReadUntilFuture<R>;

  R stream_;
  ReadBuffer buffer_;
};

template <class R>
BufferedReader(R&&) -> BufferedReader<R>;

template <class R>
class [[nodiscard]] ReadUntilFuture {
 public:
  using Output = absl::StatusOr<std::optional<std::string>>;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  ReadUntilFuture(BufferedReader<R>& reader, char delimiter, size_t maximum,
                  bool strip)
      : reader_(&reader),
        delimiter_(delimiter),
        maximum_(maximum),
        strip_(strip) {}

  Polled<Output> Poll(Context& cx) {
    ReadBuffer& buffer = reader_->buffer_;
    for (;;) {
      const std::optional<size_t> length =
          buffer.Find(delimiter_, searched_, maximum_);
      if (length.has_value()) return Output(buffer.TakeLine(*length, strip_));
      searched_ = std::min(buffer.data().size(), maximum_);
      if (searched_ == maximum_) {
        return Output(io_internal::LineTooLongStatus(maximum_));
      }
      Polled<absl::StatusOr<bool>> filled = reader_->PollFill(cx);
      if (filled.IsPending()) return kPending;
      if (!filled->ok()) return Output(filled->status());
      if (!**filled) return Output(buffer.TakeRest());
    }
  }

 private:
  BufferedReader<R>* reader_;
  char delimiter_;
  size_t maximum_;
  bool strip_;
  size_t searched_ = 0;  // so many bytes of the buffer have no delimiter
};

}  // namespace weft::io

#endif  // WEFT_IO_BUFFERED_READER_H_
