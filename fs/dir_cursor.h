// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DirCursor: reads an open folder, many entries at a time. Internal; blocks.
//
// Thread safety: one thread at a time.
#ifndef WEFT_FS_DIR_CURSOR_H_
#define WEFT_FS_DIR_CURSOR_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {

class DirCursor {
 public:
  // `fd` is a folder's, open for reading; `path` is for messages.
  DirCursor(io::Fd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}

  // Appends at least `wanted` entries, fewer only at the end.
  absl::Status Read(size_t wanted, std::vector<fs::DirEntry>& entries);
  bool at_end() const { return at_end_; }

 private:
  void Parse(const char* buffer, size_t size,
             std::vector<fs::DirEntry>& entries) const;

  io::Fd fd_;
  std::string path_;
  bool at_end_ = false;
};

// Everything in an open folder.
absl::StatusOr<std::vector<fs::DirEntry>> ReadAllEntries(io::Fd fd,
                                                         std::string path);

}  // namespace weft::fs_internal

#endif  // WEFT_FS_DIR_CURSOR_H_
