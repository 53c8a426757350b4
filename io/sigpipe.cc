// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm of the older way: SIGPIPE of a write is directed at the writing
// thread. If it was pending for it or for the process already, ours merges with
// that one and must stay; else it is taken out of the thread's set before the
// mask is restored.
#include "weft/io/sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace weft::io {
namespace {

// RWF_NOSIGNAL of linux/fs.h, since Linux 6.18.
constexpr int kNoSignal = 0x100;

// Whether the kernel knows kNoSignal: until it said no.
std::atomic<bool> has_no_signal{true};

}  // namespace

ssize_t WriteNoSigpipe(int fd, const void* from, size_t size) {
  // Relaxed: a hint; the worst is one more failed attempt.
  if (has_no_signal.load(std::memory_order_relaxed)) {
    iovec part;
    part.iov_base = const_cast<void*>(from);
    part.iov_len = size;
    // Offset -1: the current position, as write(2).
    const ssize_t written = pwritev2(fd, &part, 1, -1, kNoSignal);
    if (written >= 0 ||
        (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS)) {
      return written;
    }
    has_no_signal.store(false, std::memory_order_relaxed);
  }
  return io_internal::WriteBlockingSigpipe(fd, from, size);
}

namespace io_internal {

ssize_t WriteBlockingSigpipe(int fd, const void* from, size_t size) {
  sigset_t sigpipe;
  sigset_t old_mask;
  sigset_t pending;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, &old_mask);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  const ssize_t written = write(fd, from, size);
  const int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    const timespec no_wait = {};
    while (sigtimedwait(&sigpipe, nullptr, &no_wait) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  errno = error;
  return written;
}

}  // namespace io_internal
}  // namespace weft::io
