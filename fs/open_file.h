// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OpenFile: what a File and its futures share: the descriptor and what is known
// of it. Internal.
//
// Thread safety: any thread.
// Lifetime: counted; the last one who holds it closes the descriptor.
#ifndef WEFT_FS_OPEN_FILE_H_
#define WEFT_FS_OPEN_FILE_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/fs/metadata.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {

struct OpenFile {
  OpenFile(io::Fd fd, std::string_view path, const fs::Metadata& metadata)
      : fd(std::move(fd)), path(path), metadata_at_open(metadata) {}

  const io::Fd fd;
  const std::string path;  // for messages
  const fs::Metadata metadata_at_open;
  // Cleared when the file system turns out not to answer whether data is
  // cached. A hint: it orders nothing.
  std::atomic<bool> may_read_cached{true};
};

// Takes over a descriptor that has just been opened as `path`.
absl::StatusOr<std::shared_ptr<OpenFile>> MakeOpenFile(
    absl::StatusOr<io::Fd> fd, std::string_view path);

}  // namespace weft::fs_internal

#endif  // WEFT_FS_OPEN_FILE_H_
