// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReadDir and ListDir: the names in a folder.
//
//   fs::DirStream entries = fs::ReadDir("/usr/include");
//   for (;;) {
//     std::optional<absl::StatusOr<fs::DirEntry>> e = co_await Next(entries);
//     if (!e.has_value()) break;
//     ...
//   }
//
// A stream for folders of any size, a vector for those that are small. Neither
// sorts. Entries that are made or removed meanwhile may be there or not; every
// other entry is there once.
//
// Errors: NotFound and so on, with errno, operation and path.
// Thread safety: one thread at a time. Lifetime: the path is copied.
// Dropping: nothing is lost.
#ifndef WEFT_FS_READ_DIR_H_
#define WEFT_FS_READ_DIR_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "weft/fs/dir_cursor.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/file_future.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {

// The entries of a folder, read by a job of the blocking pool some hundred at a
// time. Ends after the last one, or after an error. Movable also between polls.
class [[nodiscard]] DirStream {
 public:
  using Item = absl::StatusOr<DirEntry>;

  // Internal: `open`, called by the first job, gives the folder; `path` is for
  // messages.
  DirStream(absl::AnyInvocable<absl::StatusOr<io::Fd>()> open, std::string path)
      : open_(std::move(open)), path_(std::move(path)) {}

  Polled<std::optional<Item>> PollNext(Context& cx);

 private:
  // The cursor travels with the job.
  struct Batch {
    std::unique_ptr<fs_internal::DirCursor> cursor;
    std::vector<DirEntry> entries;
  };
  using ReadFuture = FileFuture<absl::StatusOr<Batch>>;

  static absl::StatusOr<Batch> ReadBatch(Batch batch);
  ReadFuture StartRead();

  absl::AnyInvocable<absl::StatusOr<io::Fd>()> open_;
  std::string path_;
  Batch batch_;
  size_t next_ = 0;  // of batch_.entries
  std::optional<ReadFuture> read_;
  bool at_end_ = false;
};

// The entries of the folder `path`, as a stream.
DirStream ReadDir(std::string_view path);

// All of them, in one job.
FileFuture<absl::StatusOr<std::vector<DirEntry>>> ListDir(
    std::string_view path);

}  // namespace weft::fs

#endif  // WEFT_FS_READ_DIR_H_
