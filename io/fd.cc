// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/status/statusor.h"
#include "weft/task/status.h"

namespace weft::io {

void Fd::Reset() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0) return;
  const int saved_errno = errno;
  // Not repeated after EINTR: on Linux the number is free in any case.
  close(fd);
  errno = saved_errno;
}

absl::StatusOr<bool> SetNonBlocking(int fd, bool non_blocking) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return ErrnoStatus(errno, "fcntl(F_GETFL)");
  const int wanted =
      non_blocking ? flags | O_NONBLOCK : flags & ~static_cast<int>(O_NONBLOCK);
  if (wanted == flags) return false;
  if (fcntl(fd, F_SETFL, wanted) < 0) {
    return ErrnoStatus(errno, "fcntl(F_SETFL)");
  }
  return true;
}

}  // namespace weft::io
