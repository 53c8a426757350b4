// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/dir_cursor.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/metadata.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {
namespace {

// Holds some 800 names of usual length.
constexpr size_t kBufferSize = 32 << 10;

// `type` is the entry's d_type. Some file systems do not fill it in.
fs::FileType TypeOf(int dir, const char* name, unsigned char type) {
  if (type != DT_UNKNOWN) return fs::FileTypeOfMode(DTTOIF(type));
  struct stat result;
  if (fstatat(dir, name, &result, AT_SYMLINK_NOFOLLOW) != 0) {
    return fs::FileType::kUnknown;
  }
  return fs::FileTypeOfMode(result.st_mode);
}

}  // namespace

absl::Status DirCursor::Read(size_t wanted,
                             std::vector<fs::DirEntry>& entries) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferSize);
  const size_t before = entries.size();
  while (!at_end_ && entries.size() - before < wanted) {
    const ssize_t n = RetryOnSignal(
        [&] { return getdents64(fd_.get(), buffer.get(), kBufferSize); });
    // ENOENT: the folder was removed meanwhile, and so is empty.
    if (n < 0 && errno != ENOENT) return PathErrno(errno, "read", path_);
    at_end_ = n <= 0;
    if (n > 0) Parse(buffer.get(), static_cast<size_t>(n), entries);
  }
  return absl::OkStatus();
}

void DirCursor::Parse(const char* buffer, size_t size,
                      std::vector<fs::DirEntry>& entries) const {
  for (size_t at = 0; at < size;) {
    const char* record = buffer + at;
    uint64_t inode;
    uint16_t length;
    std::memcpy(&inode, record + offsetof(dirent64, d_ino), sizeof(inode));
    std::memcpy(&length, record + offsetof(dirent64, d_reclen), sizeof(length));
    const auto type =
        static_cast<unsigned char>(record[offsetof(dirent64, d_type)]);
    const char* name = record + offsetof(dirent64, d_name);
    at += length;
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    entries.emplace_back(name, TypeOf(fd_.get(), name, type), inode);
  }
}

absl::StatusOr<std::vector<fs::DirEntry>> ReadAllEntries(io::Fd fd,
                                                         std::string path) {
  DirCursor cursor(std::move(fd), std::move(path));
  std::vector<fs::DirEntry> entries;
  absl::Status status =
      cursor.Read(std::numeric_limits<size_t>::max(), entries);
  if (!status.ok()) return status;
  return entries;
}

}  // namespace weft::fs_internal
