// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Copy: moves a stream to its end into another.
//
//   absl::StatusOr<uint64_t> bytes = co_await io::Copy(socket, pipe);
//
// Reads into a buffer of 64 KiB of its own and writes what it has read; flushes
// at the end, does not shut down. (With 16 KiB a loopback stream moved half as
// much per second; more did not help.)
//
// Thread safety: one reader and one writer of a stream at a time.
// Lifetime: both streams outlive the future.
// Dropping: bytes that were read and not yet written, 64 KiB at most, are lost.
// copied() of a future that is kept says how many were written.
#ifndef WEFT_IO_COPY_H_
#define WEFT_IO_COPY_H_

#include <stddef.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/async_io.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

template <AsyncRead R, AsyncWrite W>
class [[nodiscard]] CopyFuture {
 public:
  using Output = absl::StatusOr<uint64_t>;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;
  static constexpr size_t kBufferSize = size_t{64} << 10;

  CopyFuture(R& from, W& to) : from_(&from), to_(&to) {}

  Polled<Output> Poll(Context& cx) {
    if (buffer_ == nullptr) buffer_.reset(new char[kBufferSize]);
    while (!ended_) {
      Polled<absl::Status> written = PollWriteBuffer(cx);
      if (written.IsPending()) return kPending;
      if (!written->ok()) return Output(*std::move(written));
      Polled<absl::StatusOr<size_t>> n =
          from_->PollRead(cx, std::span<char>(buffer_.get(), kBufferSize));
      if (n.IsPending()) return kPending;
      if (!n->ok()) return Output(n->status());
      unwritten_ = std::span<const char>(buffer_.get(), **n);
      ended_ = unwritten_.empty();
    }
    Polled<absl::Status> flushed = to_->PollFlush(cx);
    if (flushed.IsPending()) return kPending;
    if (!flushed->ok()) return Output(*std::move(flushed));
    return Output(copied_);
  }

  // The bytes written so far.
  uint64_t copied() const { return copied_; }

 private:
  Polled<absl::Status> PollWriteBuffer(Context& cx) {
    while (!unwritten_.empty()) {
      Polled<absl::StatusOr<size_t>> n = to_->PollWrite(cx, unwritten_);
      if (n.IsPending()) return kPending;
      if (!n->ok()) return n->status();
      unwritten_ = unwritten_.subspan(**n);
      copied_ += **n;
    }
    return absl::OkStatus();
  }

  R* from_;
  W* to_;
  std::unique_ptr<char[]> buffer_;
  std::span<const char> unwritten_;  // in buffer_
  uint64_t copied_ = 0;
  bool ended_ = false;
};

// Copies `from`, to its end, to `to`; gives the number of bytes.
template <AsyncRead R, AsyncWrite W>
CopyFuture<R, W> Copy(R& from, W& to) {
  return CopyFuture<R, W>(from, to);
}

}  // namespace weft::io

#endif  // WEFT_IO_COPY_H_
