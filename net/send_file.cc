// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The file is sent in pieces of kPiece. For each piece the system is
// asked whether its first byte is cached (preadv2 with RWF_NOWAIT, 0.5 us); if
// not, a job reads the piece and throws it away. Reading one piece makes the
// system read ahead, so in a file that is sent from start to end few pieces
// need a job.
//
// sendfile(2) raises SIGPIPE and has no flag against it, so the signal is
// blocked during the call and taken away if the call has raised it; it may do
// so and still report success, for the part that it sent before.
#include "weft/net/send_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/readiness.h"
#include "weft/net/socket.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::net {
namespace {

// Bounds what one poll sends; some hundred microseconds of copying.
constexpr size_t kPiece = 512 << 10;
// For files that have to be copied through this process.
constexpr size_t kBufferSize = 64 << 10;

ssize_t SendFileNoSigpipe(int socket, int file, off_t offset, size_t size) {
  sigset_t sigpipe, old_mask, pending;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, &old_mask);
  sigpending(&pending);
  const ssize_t sent = sendfile(socket, file, &offset, size);
  const int error = errno;
  // It may have sent a part before it found the peer gone.
  const bool complete = sent == static_cast<ssize_t>(size);
  if (!complete && sigismember(&pending, SIGPIPE) == 0) {
    const timespec no_wait = {};
    while (sigtimedwait(&sigpipe, nullptr, &no_wait) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  errno = error;
  return sent;
}

// False only if the system says that the byte at `offset` has to be read from
// the disk.
bool IsCached(int file, uint64_t offset) {
  char byte;
  iovec piece = {&byte, 1};
  return preadv2(file, &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT) >=
             0 ||
         errno != EAGAIN;
}

// Reads a piece and throws it away.
void ReadIntoCache(int file, uint64_t offset, size_t size) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferSize);
  while (size > 0) {
    const ssize_t n = pread(file, buffer.get(), std::min(size, kBufferSize),
                            static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // whoever sends it finds out why
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
}

}  // namespace

SendFileFuture SendFile(TcpStream& stream, int file, uint64_t offset,
                        uint64_t count) {
  return SendFileFuture(stream, file, offset, count);
}

Polled<SendFileFuture::Output> SendFileFuture::Poll(Context& cx) {
  while (sent_ < count_) {
    if (!cx.HasBudget()) return kPending;
    Polled<absl::StatusOr<size_t>> sent = kPending;
    if (buffer_ == nullptr) {
      if (!PollCached(cx)) return kPending;
      sent = PollSend(cx);
      if (buffer_ != nullptr) continue;  // it has to be copied
    } else {
      sent = PollCopy(cx);
    }
    if (sent.IsPending()) return kPending;
    if (!sent->ok()) return Output(sent->status());
    if (**sent == 0) break;  // the file ends here
    sent_ += **sent;
  }
  return Output(sent_);
}

size_t SendFileFuture::PieceSize() const {
  return static_cast<size_t>(std::min<uint64_t>(count_ - sent_, kPiece));
}

// True when what comes next is in memory, or nothing can be done about it.
bool SendFileFuture::PollCached(Context& cx) {
  if (!reading_.has_value()) {
    if (sent_ < cached_to_) return true;
    cached_to_ = sent_ + PieceSize();
    Offload* offload = cx.Find(&Environment::offload);
    if (offload == nullptr || IsCached(file_, offset_ + sent_)) return true;
    // The job may outlive this future, and so needs a descriptor of its own.
    io::Fd copy(fcntl(file_, F_DUPFD_CLOEXEC, 0));
    if (!copy.IsValid()) return true;
    auto read = [copy = std::move(copy), offset = offset_ + sent_,
                 size = PieceSize()] {
      ReadIntoCache(copy.get(), offset, size);
    };
    reading_.emplace(
        offload->Run(OffloadLane::kFile, std::move(read)).Outcome());
  }
  // If the pool refused the job, sending does the reading.
  if (reading_->Poll(cx).IsPending()) return false;
  reading_.reset();
  return true;
}

// Gives what was sent, 0 at the end of the file. Makes buffer_ if this is a
// file that has to be copied.
Polled<absl::StatusOr<size_t>> SendFileFuture::PollSend(Context& cx) {
  const Polled<io::IoResult> result =
      stream_->source().PollIo(cx, io::Direction::kWrite, [this](int socket) {
        return SendFileNoSigpipe(
            socket, file_, static_cast<off_t>(offset_ + sent_), PieceSize());
      });
  if (result.IsPending()) return kPending;
  if (result->ok()) return absl::StatusOr<size_t>(result->value());
  const int error = result->error();
  if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) {
    buffer_ = std::make_unique_for_overwrite<char[]>(kBufferSize);
    return kPending;
  }
  if (result->IsClosed()) {
    return absl::StatusOr<size_t>(result->status("sendfile"));
  }
  return absl::StatusOr<size_t>(result->status(
      net_internal::Describe("sendfile", stream_->peer_address())));
}

Polled<absl::StatusOr<size_t>> SendFileFuture::PollCopy(Context& cx) {
  if (buffer_sent_ == buffered_) {
    const ssize_t n =
        pread(file_, buffer_.get(), std::min(PieceSize(), kBufferSize),
              static_cast<off_t>(offset_ + sent_));
    if (n < 0 && errno == EINTR) return PollCopy(cx);
    if (n < 0) return absl::StatusOr<size_t>(ErrnoStatus(errno, "read a file"));
    if (n == 0) return absl::StatusOr<size_t>(0);
    buffered_ = static_cast<size_t>(n);
    buffer_sent_ = 0;
  }
  Polled<absl::StatusOr<size_t>> sent = stream_->PollWrite(
      cx,
      std::span<const char>(buffer_.get(), buffered_).subspan(buffer_sent_));
  if (sent.IsReady() && sent->ok()) buffer_sent_ += **sent;
  return sent;
}

}  // namespace weft::net
