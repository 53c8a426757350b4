// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/system_call.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "weft/fs/metadata.h"
#include "weft/io/fd.h"
#include "weft/task/status.h"

namespace weft::fs_internal {
namespace {

absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

}  // namespace

absl::Status PathErrno(int error, std::string_view operation,
                       std::string_view path) {
  return ErrnoStatus(error, absl::StrCat(ToAbsl(operation), " ", ToAbsl(path)));
}

absl::Status CheckPath(std::string_view operation, std::string_view path) {
  if (path.find('\0') == path.npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(operation), " \"", absl::CEscape(ToAbsl(path)),
                   "\": the path has a NUL in it"));
}

int OpenAt(int dir, const char* path, int flags, mode_t mode) {
  flags |= O_CLOEXEC | O_NOCTTY;
  const int fd = RetryOnSignal(
      [&] { return openat(dir, path, flags | O_NONBLOCK, mode); });
  if (fd >= 0 || errno != EAGAIN) return fd;
  return RetryOnSignal([&] { return openat(dir, path, flags, mode); });
}

absl::StatusOr<io::Fd> OpenPath(std::string_view path, int flags, mode_t mode) {
  if (absl::Status valid = CheckPath("open", path); !valid.ok()) return valid;
  const std::string terminated(path);
  io::Fd fd(OpenAt(AT_FDCWD, terminated.c_str(), flags, mode));
  if (!fd.IsValid()) return PathErrno(errno, "open", path);
  return fd;
}

absl::StatusOr<fs::Metadata> StatFd(int fd, std::string_view path) {
  struct stat result;
  if (fstat(fd, &result) != 0) return PathErrno(errno, "stat", path);
  return fs::Metadata(result);
}

ptrdiff_t ReadFullyAt(int fd, char* data, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ptrdiff_t n = RetryOnSignal([&] {
      return pread(fd, data + done, size - done,
                   static_cast<off_t>(offset + done));
    });
    if (n < 0) return -1;
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return static_cast<ptrdiff_t>(done);
}

int WriteFullyAt(int fd, const char* data, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ptrdiff_t n = RetryOnSignal([&] {
      return pwrite(fd, data + done, size - done,
                    static_cast<off_t>(offset + done));
    });
    if (n < 0) return -1;
    if (n == 0) {  // never seen on Linux; would loop for ever
      errno = EIO;
      return -1;
    }
    done += static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace weft::fs_internal
