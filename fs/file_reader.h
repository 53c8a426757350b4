// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// FileReader: a file as a byte stream; an io::AsyncRead.
//
//   fs::FileReader reader(*file);
//   absl::StatusOr<uint64_t> n = co_await io::Copy(reader, socket);
//
// Reads from a position of its own onwards: as File::ReadAt, at once what is in
// memory, by jobs of the blocking pool the rest. Any number of readers may read
// one file.
//
// Errors: those of File::ReadAt; the position stays, and reading may be tried
// again.
// Thread safety: one task at a time.
// Lifetime: keeps the file open by itself. Movable also between polls.
// Dropping: of a read, nothing; of the reader, nothing.
#ifndef WEFT_FS_FILE_READER_H_
#define WEFT_FS_FILE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "weft/fs/file.h"
#include "weft/fs/open_file.h"
#include "weft/fs/read_block.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {

class [[nodiscard]] FileReader {
 public:
  // Reads `file` from `offset` on. Requires: the file was opened for reading.
  explicit FileReader(const File& file, uint64_t offset = 0);

  // See io/async_io.h.
  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to);

  // Where the next byte comes from.
  uint64_t position() const { return position_; }

 private:
  size_t TakeFromBlock(std::span<char> to);

  std::shared_ptr<fs_internal::OpenFile> file_;
  uint64_t position_;
  // What a job has read, how much of it has been given, and the job.
  fs_internal::Block block_ = {nullptr, 0};
  size_t taken_ = 0;
  std::optional<fs_internal::BlockFuture> reading_;
};

}  // namespace weft::fs

#endif  // WEFT_FS_FILE_READER_H_
