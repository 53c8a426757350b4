// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DirEntry: a name in a folder.
//
// Thread safety: as a string.
#ifndef WEFT_FS_DIR_ENTRY_H_
#define WEFT_FS_DIR_ENTRY_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "weft/fs/metadata.h"

namespace weft::fs {

class DirEntry {
 public:
  DirEntry(std::string name, FileType type, ino_t inode)
      : name_(std::move(name)), type_(type), inode_(inode) {}

  // Any bytes but '/' and NUL; never "." or "..".
  const std::string& name() const { return name_; }
  // Of the entry itself: a symlink is a kSymlink. kUnknown if the file system
  // does not say and the entry has vanished.
  FileType type() const { return type_; }
  ino_t inode() const { return inode_; }

 private:
  std::string name_;
  FileType type_;
  ino_t inode_;
};

}  // namespace weft::fs

#endif  // WEFT_FS_DIR_ENTRY_H_
