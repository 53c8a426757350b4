// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Stat: the metadata of what a path names.
//
//   absl::StatusOr<fs::Metadata> found = co_await fs::Stat("/etc/hosts");
//
// Errors: NotFound, PermissionDenied and so on, with errno, operation and path;
// InvalidArgument for a path with a NUL in it.
// Thread safety: any thread, with an Offload (file_future.h).
// Lifetime: the path is copied.
// Dropping: nothing is lost.
#ifndef WEFT_FS_STAT_H_
#define WEFT_FS_STAT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"

namespace weft::fs {

// Follows symlinks.
FileFuture<absl::StatusOr<Metadata>> Stat(std::string_view path);

// If `path` names a symlink, it is about the link itself.
FileFuture<absl::StatusOr<Metadata>> StatNoFollow(std::string_view path);

}  // namespace weft::fs

#endif  // WEFT_FS_STAT_H_
