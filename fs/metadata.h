// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Metadata: what the file system knows about a file, without its contents.
//
//   absl::StatusOr<fs::Metadata> found = co_await fs::Stat("/etc/hosts");
//   if (found.ok() && found->IsFile()) Print(found->size());
//
// A value: it says what was true when it was taken.
//
// Thread safety: as an int.
#ifndef WEFT_FS_METADATA_H_
#define WEFT_FS_METADATA_H_

#include <sys/stat.h>

#include <cstdint>

#include "absl/time/time.h"

namespace weft::fs {

enum class FileType {
  kFile,  // a regular one
  kDirectory,
  kSymlink,
  kFifo,
  kSocket,
  kCharacterDevice,
  kBlockDevice,
  kUnknown,  // the file system does not say
};

// The type in the mode bits of stat(2).
FileType FileTypeOfMode(mode_t mode);

class Metadata {
 public:
  explicit Metadata(const struct stat& stat) : stat_(stat) {}

  FileType type() const { return FileTypeOfMode(stat_.st_mode); }
  bool IsFile() const { return S_ISREG(stat_.st_mode); }
  bool IsDirectory() const { return S_ISDIR(stat_.st_mode); }

  // Bytes. Files made up by the kernel (/proc) claim 0 whatever they contain.
  uint64_t size() const { return static_cast<uint64_t>(stat_.st_size); }
  // The permission bits, 07777 at most.
  mode_t mode() const { return stat_.st_mode & 07777; }
  uid_t uid() const { return stat_.st_uid; }
  gid_t gid() const { return stat_.st_gid; }

  // The contents changed last; the contents or the metadata did.
  absl::Time modified() const { return absl::TimeFromTimespec(stat_.st_mtim); }
  absl::Time changed() const { return absl::TimeFromTimespec(stat_.st_ctim); }

  // Together they identify a file while it exists.
  ino_t inode() const { return stat_.st_ino; }
  dev_t device() const { return stat_.st_dev; }
  // How many names it has.
  nlink_t links() const { return stat_.st_nlink; }

 private:
  struct stat stat_;
};

}  // namespace weft::fs

#endif  // WEFT_FS_METADATA_H_
