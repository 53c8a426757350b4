// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/open_file.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/fs/metadata.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {

absl::StatusOr<std::shared_ptr<OpenFile>> MakeOpenFile(
    absl::StatusOr<io::Fd> fd, std::string_view path) {
  if (!fd.ok()) return fd.status();
  absl::StatusOr<fs::Metadata> metadata = StatFd(fd->get(), path);
  if (!metadata.ok()) return metadata.status();
  return std::make_shared<OpenFile>(*std::move(fd), path, *metadata);
}

}  // namespace weft::fs_internal
