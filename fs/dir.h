// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Dir: a folder, and nothing outside it.
//
// A capability: whoever has a Dir can reach what is beneath it by relative
// paths, and no path, symlink or rename leads anywhere else. Made for programs
// that take paths from strangers.
//
//   absl::StatusOr<fs::Dir> root = co_await fs::Dir::Open("/srv/www");
//   ...
//   auto page = co_await root->OpenFile("index.html");      // or an error
//   auto other = co_await root->OpenFile("../etc/passwd");  // PermissionDenied
//
// Paths are taken byte by byte, nothing is decoded. Refused with
// PermissionDenied: absolute paths, any component "..", symlinks that lead out
// (those that stay inside are followed), the magic links of /proc. Refused with
// InvalidArgument: a NUL. "." is the folder itself; "" is NotFound.
//
// The Dir follows its folder when that is renamed or moved.
//
// Errors: besides these, those of the system with errno, operation and path.
// Thread safety: const methods from any thread with an Offload (file_future.h),
// also at once.
// Lifetime: futures and streams keep the folder open by themselves; paths are
// copied.
// Dropping: what a dropped future opens is closed.
#ifndef WEFT_FS_DIR_H_
#define WEFT_FS_DIR_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/file.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"
#include "weft/fs/open_file.h"
#include "weft/fs/open_options.h"
#include "weft/fs/read_dir.h"

namespace weft::fs {

class Dir {
 public:
  // Opens any folder; this is where the choice of the root is made.
  static FileFuture<absl::StatusOr<Dir>> Open(std::string_view path);

  Dir(Dir&&) noexcept = default;
  Dir& operator=(Dir&&) noexcept = default;

  // As File::Open, beneath this folder. Opens folders too, if only for reading:
  // look at the file's metadata_at_open().
  FileFuture<absl::StatusOr<File>> OpenFile(
      std::string_view path, const OpenOptions& options = OpenOptions()) const;

  // A smaller capability.
  FileFuture<absl::StatusOr<Dir>> OpenDir(std::string_view path) const;

  // Follows symlinks, inside.
  FileFuture<absl::StatusOr<Metadata>> Stat(std::string_view path) const;

  // As fs::ListDir and fs::ReadDir.
  FileFuture<absl::StatusOr<std::vector<DirEntry>>> List(
      std::string_view path) const;
  DirStream ReadDir(std::string_view path) const;

  // What was true when it was opened.
  const Metadata& metadata_at_open() const;

  // The descriptor; it stays this object's.
  int native_handle() const;

 private:
  using SharedFolder = std::shared_ptr<fs_internal::OpenFile>;

  explicit Dir(SharedFolder folder) : folder_(std::move(folder)) {}
  static absl::StatusOr<Dir> FromFolder(absl::StatusOr<SharedFolder> folder);
  const SharedFolder& folder() const;

  SharedFolder folder_;
};

}  // namespace weft::fs

#endif  // WEFT_FS_DIR_H_
