// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"
#include "weft/task/status.h"

namespace weft::fs {
namespace {

// What /proc hands out at once.
constexpr size_t kSmallest = 4096;
// A size that is only claimed must not take all memory.
constexpr size_t kLargestGuess = 1 << 30;

// Bytes to make room for at first: one more than the file claims, so that the
// read that finds the end needs no growth.
absl::StatusOr<size_t> FirstCapacity(int fd, const std::string& path,
                                     size_t max_bytes) {
  absl::StatusOr<Metadata> metadata = fs_internal::StatFd(fd, path);
  if (!metadata.ok()) return metadata.status();
  const uint64_t claimed = std::min<uint64_t>(metadata->size(), kLargestGuess);
  const size_t wanted = std::max(static_cast<size_t>(claimed) + 1, kSmallest);
  return max_bytes < wanted ? max_bytes + 1 : wanted;
}

absl::Status TooLarge(const std::string& path, size_t max_bytes) {
  return ErrnoStatus(EFBIG, "read " + path + ": more than max_bytes, " +
                                std::to_string(max_bytes));
}

absl::StatusOr<std::string> ReadToEnd(int fd, const std::string& path,
                                      size_t max_bytes) {
  absl::StatusOr<size_t> capacity = FirstCapacity(fd, path, max_bytes);
  if (!capacity.ok()) return capacity.status();
  std::string contents(*capacity, '\0');
  size_t size = 0;
  for (;;) {
    const ssize_t n = fs_internal::RetryOnSignal([&] {
      return read(fd, contents.data() + size, contents.size() - size);
    });
    if (n < 0) return fs_internal::PathErrno(errno, "read", path);
    if (n == 0) break;
    size += static_cast<size_t>(n);
    if (size > max_bytes) return TooLarge(path, max_bytes);
    if (size < contents.size()) continue;
    // One byte beyond the limit shows that there is more.
    const size_t doubled = contents.size() * 2;
    contents.resize(max_bytes < doubled ? max_bytes + 1 : doubled);
  }
  contents.resize(size);
  return contents;
}

absl::StatusOr<std::string> ReadPath(const std::string& path,
                                     size_t max_bytes) {
  absl::Status valid = fs_internal::CheckPath("open", path);
  if (!valid.ok()) return valid;
  // Without O_NONBLOCK: a FIFO without a writer would look empty.
  const io::Fd fd(fs_internal::RetryOnSignal(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!fd.IsValid()) return fs_internal::PathErrno(errno, "open", path);
  return ReadToEnd(fd.get(), path, max_bytes);
}

}  // namespace

FileFuture<absl::StatusOr<std::string>> ReadFile(std::string_view path,
                                                 size_t max_bytes) {
  return FileFuture<absl::StatusOr<std::string>>(
      [path = std::string(path), max_bytes] {
        return ReadPath(path, max_bytes);
      });
}

}  // namespace weft::fs
