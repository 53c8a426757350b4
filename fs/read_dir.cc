// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/read_dir.h"

#include <fcntl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/dir_cursor.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/file_future.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {
namespace {

// Entries per job: reading them takes longer than handing the job over.
constexpr size_t kBatch = 512;

}  // namespace

Polled<std::optional<DirStream::Item>> DirStream::PollNext(Context& cx) {
  if (!cx.HasBudget()) return kPending;
  while (next_ == batch_.entries.size()) {
    if (at_end_) return std::optional<Item>();
    if (!read_.has_value()) read_.emplace(StartRead());
    Polled<absl::StatusOr<Batch>> polled = read_->Poll(cx);
    if (polled.IsPending()) return kPending;
    read_.reset();
    if (!polled->ok()) {
      at_end_ = true;
      return std::optional<Item>(polled->status());
    }
    batch_ = **std::move(polled);
    at_end_ = batch_.cursor->at_end();
  }
  cx.Charge();
  return std::optional<Item>(std::move(batch_.entries[next_++]));
}

DirStream::ReadFuture DirStream::StartRead() {
  next_ = 0;
  if (batch_.cursor != nullptr) {
    return ReadFuture([batch = std::move(batch_)]() mutable {
      return ReadBatch(std::move(batch));
    });
  }
  return ReadFuture([open = std::move(open_),
                     path = path_]() mutable -> absl::StatusOr<Batch> {
    absl::StatusOr<io::Fd> fd = open();
    if (!fd.ok()) return fd.status();
    Batch batch;
    batch.cursor = std::make_unique<fs_internal::DirCursor>(*std::move(fd),
                                                            std::move(path));
    return ReadBatch(std::move(batch));
  });
}

absl::StatusOr<DirStream::Batch> DirStream::ReadBatch(Batch batch) {
  batch.entries.clear();
  absl::Status status = batch.cursor->Read(kBatch, batch.entries);
  if (!status.ok()) return status;
  return batch;
}

DirStream ReadDir(std::string_view path) {
  std::string copy(path);
  return DirStream(
      [copy] { return fs_internal::OpenPath(copy, O_RDONLY | O_DIRECTORY); },
      copy);
}

FileFuture<absl::StatusOr<std::vector<DirEntry>>> ListDir(
    std::string_view path) {
  using Entries = std::vector<DirEntry>;
  return FileFuture<absl::StatusOr<Entries>>(
      [path = std::string(path)]() -> absl::StatusOr<Entries> {
        absl::StatusOr<io::Fd> fd =
            fs_internal::OpenPath(path, O_RDONLY | O_DIRECTORY);
        if (!fd.ok()) return fd.status();
        return fs_internal::ReadAllEntries(*std::move(fd), path);
      });
}

}  // namespace weft::fs
