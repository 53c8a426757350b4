// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/metadata.h"

#include <sys/stat.h>

namespace weft::fs {

FileType FileTypeOfMode(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileType::kFile;
    case S_IFDIR:
      return FileType::kDirectory;
    case S_IFLNK:
      return FileType::kSymlink;
    case S_IFIFO:
      return FileType::kFifo;
    case S_IFSOCK:
      return FileType::kSocket;
    case S_IFCHR:
      return FileType::kCharacterDevice;
    case S_IFBLK:
      return FileType::kBlockDevice;
    default:
      return FileType::kUnknown;
  }
}

}  // namespace weft::fs
