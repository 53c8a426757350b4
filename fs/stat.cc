// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/stat.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"
#include "weft/fs/system_call.h"

namespace weft::fs {
namespace {

absl::StatusOr<Metadata> StatPath(const std::string& path, int flags) {
  absl::Status valid = fs_internal::CheckPath("stat", path);
  if (!valid.ok()) return valid;
  struct stat result;
  const int error = fs_internal::RetryOnSignal(
      [&] { return fstatat(AT_FDCWD, path.c_str(), &result, flags); });
  if (error != 0) return fs_internal::PathErrno(errno, "stat", path);
  return Metadata(result);
}

FileFuture<absl::StatusOr<Metadata>> MakeStat(std::string_view path,
                                              int flags) {
  return FileFuture<absl::StatusOr<Metadata>>(
      [path = std::string(path), flags] { return StatPath(path, flags); });
}

}  // namespace

FileFuture<absl::StatusOr<Metadata>> Stat(std::string_view path) {
  return MakeStat(path, 0);
}

FileFuture<absl::StatusOr<Metadata>> StatNoFollow(std::string_view path) {
  return MakeStat(path, AT_SYMLINK_NOFOLLOW);
}

}  // namespace weft::fs
