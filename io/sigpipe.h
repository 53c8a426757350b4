// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WriteNoSigpipe: write(2) that never raises SIGPIPE.
//
// A write to a pipe that nobody reads raises SIGPIPE, which ends a process that
// did not ask for anything else. A library must neither let that happen nor
// change the disposition of a signal behind its user's back. (Sockets have
// MSG_NOSIGNAL; this is for the rest.)
//
// Linux 6.18 has a flag for it. Before, the signal is blocked in the calling
// thread during the write, and taken away if the write raised it, which costs
// two more system calls.
//
// Thread safety: any thread.
#ifndef WEFT_IO_SIGPIPE_H_
#define WEFT_IO_SIGPIPE_H_

#include <stddef.h>
#include <sys/types.h>

namespace weft::io {

// As write(2); EPIPE where SIGPIPE would have been raised.
ssize_t WriteNoSigpipe(int fd, const void* from, size_t size);

namespace io_internal {

// The same by blocking the signal, on any kernel.
ssize_t WriteBlockingSigpipe(int fd, const void* from, size_t size);

}  // namespace io_internal
}  // namespace weft::io

#endif  // WEFT_IO_SIGPIPE_H_
