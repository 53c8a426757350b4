// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Reading at a position, as File and FileReader do it: from what is cached, or
// a block at a time by a job. Internal.
//
// Thread safety: any thread.
#ifndef WEFT_FS_READ_BLOCK_H_
#define WEFT_FS_READ_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"
#include "weft/fs/open_file.h"

namespace weft::fs_internal {

// The most that is read at once, cached: copying it takes some 20 us.
inline constexpr size_t kCachedPiece = 256 << 10;
// The most that a job reads: enough to make the hop (8-18 us) small beside it.
inline constexpr size_t kBlock = 1 << 20;

// Reads into `to` what is cached at `offset`: how many bytes, 0 at the end of
// the file. Nothing if that needs a job, which will also find whatever else is
// wrong. Never blocks.
std::optional<size_t> ReadCached(OpenFile& file, uint64_t offset,
                                 std::span<char> to);

struct Block {
  std::unique_ptr<char[]> data;
  size_t size;
};
using BlockFuture = fs::FileFuture<absl::StatusOr<Block>>;

// Reads `size` bytes at `offset` by a job; fewer if the file ends before.
BlockFuture ReadBlock(std::shared_ptr<OpenFile> file, uint64_t offset,
                      size_t size);

}  // namespace weft::fs_internal

#endif  // WEFT_FS_READ_BLOCK_H_
