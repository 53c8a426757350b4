// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Source: any descriptor that can be waited for, without blocking a thread.
//
// A Source owns a descriptor in non-blocking mode. System calls are made by the
// caller, through the Source: TryIo makes one now, PollIo and AsyncIo repeat it
// whenever the descriptor may have become ready; Readable and Writable only
// wait. Sockets, pipes and files of higher libraries are made of this.
//
//   absl::StatusOr<io::Source> source = io::Source::Create(std::move(fd));
//   io::IoResult n = co_await source->AsyncIo(
//       io::Direction::kRead, [&](int fd) { return read(fd, buf, sizeof(buf));
//       });
//
// State. A Source binds to a reactor when it first has to wait: that of its
// context's environment, else a service thread's. It stays there, whoever uses
// it later. What the reactor reported is kept in a word (io/readiness.h), so a
// call that is known to block is not made, and readiness survives a task that
// was dropped. Readiness is a hint: a call may still find nothing, and waits
// may end early.
//
// Closing: Close(), from any thread, resumes everybody who waits with
// ClosedStatus(). The number is not closed while a call uses it, and not used
// after it was closed.
//
// Descriptors that the kernel cannot watch (regular files) count as ready
// always; calls on them block.
//
// Thread safety: all methods from any thread at the same time, except moving,
// IntoFd and destruction.
// Lifetime: futures may outlive the Source; they give ClosedStatus() then. The
// reactor may go first: waits give ReactorClosedStatus() then.
// Dropping: of a future, nothing is lost, nothing was consumed. Of the Source:
// as Close().
#ifndef WEFT_IO_SOURCE_H_
#define WEFT_IO_SOURCE_H_

#include <stddef.h>
#include <sys/types.h>

#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/readiness.h"
#include "weft/io/source_cell.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

namespace io_internal {
class SourceWait;
}
class ReadinessFuture;
template <class Op>
class AsyncIoFuture;

class [[nodiscard]] Source {
 public:
  // One non-blocking system call on the descriptor: returns its result, and if
  // that is negative has set errno. EINTR is repeated.
  using Operation = absl::FunctionRef<ssize_t(int fd)>;

  // Takes over `fd` and sets O_NONBLOCK, which is undone when the descriptor is
  // given up. That flag is seen by everybody who shares the open file, so do
  // not hand in (a duplicate of) an inherited standard stream. Fails as
  // fcntl(2) does; then `fd` is closed.
  static absl::StatusOr<Source> Create(Fd fd);
  // The same for a descriptor that is in non-blocking mode already (made with
  // SOCK_NONBLOCK, O_NONBLOCK). No system call.
  static Source Adopt(Fd fd);

  Source(Source&& other) noexcept
      : cell_(std::exchange(other.cell_, nullptr)) {}
  Source& operator=(Source&& other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~Source();

  // Calls op(fd) now, unless it is known that it would block. A result that
  // would block makes the descriptor count as not ready until the next event.
  // `stream_length`: for calls on a byte stream (a stream socket, a pipe), the
  // number of bytes asked for: fewer, but not none, mean that the stream is
  // drained, which saves the next call. Else 0.
  IoResult TryIo(Direction direction, Operation op, size_t stream_length = 0);

  // As TryIo, and waits: pending while the call would block. One task waits in
  // this way per direction; of several, the one that polled last is woken. Its
  // waker is kept until an event, another poll or Close().
  Polled<IoResult> PollIo(Context& cx, Direction direction, Operation op,
                          size_t stream_length = 0);

  // Ready when a call in that direction may get somewhere, or with the reason
  // why it never will. One task each, as PollIo.
  Polled<absl::Status> PollReadable(Context& cx);
  Polled<absl::Status> PollWritable(Context& cx);

  // The same as futures. Any number may wait at a time; all are woken.
  ReadinessFuture Readable();
  ReadinessFuture Writable();

  // A future of op(fd): PollIo for any number of waiters at a time. `op` is
  // kept in the future.
  template <class Op>
  AsyncIoFuture<Op> AsyncIo(Direction direction, Op op);

  // Calls op(fd) whether it is ready or not: for options, names, shutdown.
  IoResult Call(Operation op);

  // See above. Further calls have no effect.
  void Close();
  bool IsClosed() const;

  // Gives the descriptor back as Create got it; waits end as after Close(). An
  // empty Fd if the Source was closed.
  Fd IntoFd() &&;

 private:
  friend io_internal::SourceWait;

  explicit Source(io_internal::SourceCell* cell) : cell_(cell) {}
  void Drop();

  io_internal::SourceCell* cell_;  // null: moved from
};

namespace io_internal {

// The waiting side of the futures: a node and a reference to the cell.
class SourceWait {
 public:
  SourceWait(Source& source, Direction direction);
  SourceWait(SourceWait&& other) noexcept;  // requires: not polled yet
  SourceWait& operator=(SourceWait&&) = delete;
  ~SourceWait();

  Direction direction() const { return node_.direction; }
  // Ready if the direction is; ok, or why it never will be.
  Polled<IoResult> PollReady(Context& cx);
  // As Source::PollIo, without a limit of waiters.
  Polled<IoResult> PollIo(Context& cx, Source::Operation op);

 private:
  SourceCell* cell_;
  WaitNode node_;
};

}  // namespace io_internal

// See Source::Readable. Movable until first polled.
class [[nodiscard]] ReadinessFuture {
 public:
  using Output = absl::Status;

  Polled<absl::Status> Poll(Context& cx);

 private:
  friend Source;
  ReadinessFuture(Source& source, Direction direction)
      : wait_(source, direction) {}

  io_internal::SourceWait wait_;
};

// See Source::AsyncIo. Movable until first polled.
template <class Op>
class [[nodiscard]] AsyncIoFuture {
 public:
  using Output = IoResult;

  Polled<IoResult> Poll(Context& cx) { return wait_.PollIo(cx, op_); }

  // The operation, with whatever it keeps of its last call.
  const Op& op() const { return op_; }

 private:
  friend Source;
  AsyncIoFuture(Source& source, Direction direction, Op op)
      : wait_(source, direction), op_(std::move(op)) {}

  io_internal::SourceWait wait_;
  Op op_;
};

template <class Op>
AsyncIoFuture<Op> Source::AsyncIo(Direction direction, Op op) {
  return AsyncIoFuture<Op>(*this, direction, std::move(op));
}

}  // namespace weft::io

#endif  // WEFT_IO_SOURCE_H_
