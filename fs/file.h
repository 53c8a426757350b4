// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// File: an open file, read and written at positions.
//
//   absl::StatusOr<fs::File> file = co_await fs::File::Open("data.bin");
//   if (!file.ok()) co_return file.status();
//   std::array<char, 4096> block;
//   absl::StatusOr<size_t> n = co_await file->ReadAt(8192, block);
//
// There is no current position that two tasks could fight over. Data that the
// system has in memory is read at once, in the poll; for the rest the read is
// one job of the blocking pool per mebibyte.
//
// Thread safety: const methods from any thread with an Offload (file_future.h),
// also at once; a pending future by one thread at a time.
// Lifetime: futures keep the file open by themselves. The last of the File and
// its futures closes it.
// Dropping: see ReadAtFuture and WriteAtFuture. The buffers they were given are
// never touched after that: the pool works on memory of its own.
#ifndef WEFT_FS_FILE_H_
#define WEFT_FS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"
#include "weft/fs/open_file.h"
#include "weft/fs/open_options.h"
#include "weft/fs/read_block.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {

// Ready with the number of bytes read: all that the buffer holds, or fewer (0
// too) if the file ends before. After an error the buffer's contents are
// unspecified.
// Dropping: nothing is lost; the file has no position.
class [[nodiscard]] ReadAtFuture {
 public:
  using Output = absl::StatusOr<size_t>;
  static constexpr bool kMovableAfterPoll = true;

  Polled<Output> Poll(Context& cx);

 private:
  friend class File;
  ReadAtFuture(std::shared_ptr<fs_internal::OpenFile> file, uint64_t offset,
               std::span<char> buffer)
      : file_(std::move(file)), offset_(offset), buffer_(buffer) {}

  std::shared_ptr<fs_internal::OpenFile> file_;
  uint64_t offset_;
  std::span<char> buffer_;
  size_t done_ = 0;
  std::optional<fs_internal::BlockFuture> block_;
};

// Ready when all of the data has been handed to the system. After an error any
// part of it may have been.
// Dropping: a part of up to a mebibyte that a thread of the pool is writing is
// still written, possibly after something that is written later; the rest is
// not.
class [[nodiscard]] WriteAtFuture {
 public:
  using Output = absl::Status;
  static constexpr bool kMovableAfterPoll = true;

  Polled<Output> Poll(Context& cx);

 private:
  friend class File;
  WriteAtFuture(std::shared_ptr<fs_internal::OpenFile> file, uint64_t offset,
                std::span<const char> data)
      : file_(std::move(file)), offset_(offset), data_(data) {}

  void StartBlock();

  std::shared_ptr<fs_internal::OpenFile> file_;
  uint64_t offset_;
  std::span<const char> data_;
  std::optional<FileFuture<absl::Status>> block_;
};

class File {
 public:
  // Opens what `path` names; a folder, too, if only for reading. Never waits
  // for the other end of a FIFO. The descriptor is close-on-exec.
  // Errors: NotFound and so on, with errno and path; InvalidArgument for a path
  // with a NUL in it, and for options that contradict each other.
  static FileFuture<absl::StatusOr<File>> Open(
      std::string_view path, const OpenOptions& options = OpenOptions());

  // Internal: made by the functions that open.
  explicit File(std::shared_ptr<fs_internal::OpenFile> file)
      : file_(std::move(file)) {}

  File(File&&) noexcept = default;
  File& operator=(File&&) noexcept = default;

  // Reads from `offset` (bytes from the start) until `buffer` is full or the
  // file ends. `buffer` must live until the future is ready or dropped.
  // Errors: InvalidArgument with ESPIPE for what has no positions: FIFOs,
  // terminals.
  ReadAtFuture ReadAt(uint64_t offset, std::span<char> buffer) const;

  // Writes all of `data` at `offset`; beyond the end the file grows, with zeros
  // in between. `data` must live until the future is ready or dropped. It is in
  // the system's cache then, not necessarily on the disk.
  WriteAtFuture WriteAt(uint64_t offset, std::span<const char> data) const;

  // What is true of the file now.
  FileFuture<absl::StatusOr<Metadata>> Stat() const;

  // What was true when it was opened; costs nothing.
  const Metadata& metadata_at_open() const;

  // Internal: for what reads the same open file.
  std::shared_ptr<fs_internal::OpenFile> shared() const;

  // The descriptor; it stays this object's. Its flag O_NONBLOCK is set.
  int native_handle() const;

 private:
  fs_internal::OpenFile& open_file() const;

  std::shared_ptr<fs_internal::OpenFile> file_;
};

}  // namespace weft::fs

#endif  // WEFT_FS_FILE_H_
