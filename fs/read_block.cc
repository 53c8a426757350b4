// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/read_block.h"

#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/fs/open_file.h"
#include "weft/fs/system_call.h"

namespace weft::fs_internal {

std::optional<size_t> ReadCached(OpenFile& file, uint64_t offset,
                                 std::span<char> to) {
  // Relaxed: a hint that orders nothing.
  if (!file.may_read_cached.load(std::memory_order_relaxed)) {
    return std::nullopt;
  }
  iovec piece = {to.data(), std::min(to.size(), kCachedPiece)};
  const ssize_t n = RetryOnSignal([&] {
    return preadv2(file.fd.get(), &piece, 1, static_cast<off_t>(offset),
                   RWF_NOWAIT);
  });
  if (n >= 0) return static_cast<size_t>(n);
  if (errno != EAGAIN) {
    // Relaxed: a hint that orders nothing.
    file.may_read_cached.store(false, std::memory_order_relaxed);
  }
  return std::nullopt;
}

BlockFuture ReadBlock(std::shared_ptr<OpenFile> file, uint64_t offset,
                      size_t size) {
  return BlockFuture(
      [file = std::move(file), offset, size]() -> absl::StatusOr<Block> {
        Block block;
        block.data = std::make_unique_for_overwrite<char[]>(size);
        const ptrdiff_t n =
            ReadFullyAt(file->fd.get(), block.data.get(), size, offset);
        if (n < 0) return PathErrno(errno, "read", file->path);
        block.size = static_cast<size_t>(n);
        return block;
      });
}

}  // namespace weft::fs_internal
