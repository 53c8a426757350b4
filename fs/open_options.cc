// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/open_options.h"

#include <fcntl.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::fs {

absl::StatusOr<int> OpenOptions::Flags() const {
  if (truncate_ && (!write_ || append_)) {
    return absl::InvalidArgumentError(
        "open: Truncate() needs Write() and excludes Append()");
  }
  const bool writes = write_ || append_;
  if (creates() && !writes) {
    return absl::InvalidArgumentError(
        "open: Create() and CreateNew() need Write() or Append()");
  }
  int flags = !writes ? O_RDONLY : read_ ? O_RDWR : O_WRONLY;
  if (append_) flags |= O_APPEND;
  if (truncate_) flags |= O_TRUNC;
  if (creates()) flags |= O_CREAT;
  if (create_new_) flags |= O_EXCL;
  return flags;
}

}  // namespace weft::fs
