// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the files of this package share for calling the system:
// repetition after signals, messages. Internal.
//
// All functions may block, and are called from jobs of the blocking pool.
//
// Thread safety: as said at each.
#ifndef WEFT_FS_SYSTEM_CALL_H_
#define WEFT_FS_SYSTEM_CALL_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/metadata.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {

// The result of fn(), called again while a signal interrupts it.
template <class Fn>
auto RetryOnSignal(Fn fn) {
  for (;;) {
    auto result = fn();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// The error errno of `operation` on `path`.
absl::Status PathErrno(int error, std::string_view operation,
                       std::string_view path);

// InvalidArgument if `path` has a NUL in it, which the system would take for
// its end.
absl::Status CheckPath(std::string_view operation, std::string_view path);

// openat(2) with O_CLOEXEC, O_NOCTTY and O_NONBLOCK added: opening never waits
// for the other end of a FIFO or for a device. (The last has no effect on files
// and folders; if it makes the call fail because a lease has to be broken, the
// call is repeated without it.) -1 and errno on failure.
int OpenAt(int dir, const char* path, int flags, mode_t mode);

// The same, with errors as a status and the path checked.
absl::StatusOr<io::Fd> OpenPath(std::string_view path, int flags,
                                mode_t mode = 0);

absl::StatusOr<fs::Metadata> StatFd(int fd, std::string_view path);

// Reads from `offset` until `size` bytes are read or the file ends; how many
// were read. errno and -1 on failure.
ptrdiff_t ReadFullyAt(int fd, char* data, size_t size, uint64_t offset);
// Writes all of it; 0, or errno and -1.
int WriteFullyAt(int fd, const char* data, size_t size, uint64_t offset);

}  // namespace weft::fs_internal

#endif  // WEFT_FS_SYSTEM_CALL_H_
