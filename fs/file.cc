// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A read first asks for what is cached (preadv2 with RWF_NOWAIT),
// straight into the caller's buffer and in pieces of kCachedPiece, so that the
// budget bounds what one poll copies. Where nothing is cached it becomes a job
// that reads up to kBlock bytes into memory of its own; they are copied out
// when the job is done, and the cache is asked again, since the system has
// probably read ahead. A write is a row of jobs, each with a copy of its block.
#include "weft/fs/file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"
#include "weft/fs/open_file.h"
#include "weft/fs/open_options.h"
#include "weft/fs/read_block.h"
#include "weft/fs/system_call.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {
namespace {

using fs_internal::kBlock;
using SharedFile = std::shared_ptr<fs_internal::OpenFile>;

absl::StatusOr<File> OpenFileAt(const std::string& path,
                                const OpenOptions& options) {
  absl::StatusOr<int> flags = options.Flags();
  if (!flags.ok()) return flags.status();
  absl::StatusOr<SharedFile> file = fs_internal::MakeOpenFile(
      fs_internal::OpenPath(path, *flags, options.mode()), path);
  if (!file.ok()) return file.status();
  return File(*std::move(file));
}

}  // namespace

Polled<ReadAtFuture::Output> ReadAtFuture::Poll(Context& cx) {
  while (done_ < buffer_.size()) {
    if (!cx.HasBudget()) return kPending;
    const std::span<char> rest = buffer_.subspan(done_);
    if (!block_.has_value()) {
      const std::optional<size_t> cached =
          fs_internal::ReadCached(*file_, offset_ + done_, rest);
      if (cached.has_value()) {
        cx.Charge();
        done_ += *cached;
        if (*cached == 0) break;  // the file ends here
        continue;
      }
      block_.emplace(fs_internal::ReadBlock(file_, offset_ + done_,
                                            std::min(kBlock, rest.size())));
    }
    Polled<absl::StatusOr<fs_internal::Block>> polled = block_->Poll(cx);
    if (polled.IsPending()) return kPending;
    block_.reset();
    if (!polled->ok()) return Output(polled->status());
    const fs_internal::Block& block = **polled;
    std::memcpy(rest.data(), block.data.get(), block.size);
    done_ += block.size;
    if (block.size < std::min(kBlock, rest.size())) break;  // here too
  }
  return Output(done_);
}

Polled<absl::Status> WriteAtFuture::Poll(Context& cx) {
  for (;;) {
    if (block_.has_value()) {
      Polled<absl::Status> polled = block_->Poll(cx);
      if (polled.IsPending()) return kPending;
      block_.reset();
      if (!polled->ok()) return polled;
    }
    if (data_.empty()) return absl::OkStatus();
    StartBlock();
  }
}

void WriteAtFuture::StartBlock() {
  const size_t size = std::min(kBlock, data_.size());
  auto copy = std::make_unique_for_overwrite<char[]>(size);
  std::memcpy(copy.get(), data_.data(), size);
  block_.emplace([file = file_, offset = offset_, size,
                  copy = std::move(copy)]() -> absl::Status {
    const int error =
        fs_internal::WriteFullyAt(file->fd.get(), copy.get(), size, offset);
    if (error == 0) return absl::OkStatus();
    return fs_internal::PathErrno(errno, "write", file->path);
  });
  data_ = data_.subspan(size);
  offset_ += size;
}

FileFuture<absl::StatusOr<File>> File::Open(std::string_view path,
                                            const OpenOptions& options) {
  return FileFuture<absl::StatusOr<File>>([path = std::string(path), options] {
    return OpenFileAt(path, options);
  });
}

ReadAtFuture File::ReadAt(uint64_t offset, std::span<char> buffer) const {
  open_file();
  return ReadAtFuture(file_, offset, buffer);
}

WriteAtFuture File::WriteAt(uint64_t offset, std::span<const char> data) const {
  open_file();
  return WriteAtFuture(file_, offset, data);
}

FileFuture<absl::StatusOr<Metadata>> File::Stat() const {
  open_file();
  return FileFuture<absl::StatusOr<Metadata>>([file = file_] {
    return fs_internal::StatFd(file->fd.get(), file->path);
  });
}

const Metadata& File::metadata_at_open() const {
  return open_file().metadata_at_open;
}

std::shared_ptr<fs_internal::OpenFile> File::shared() const {
  open_file();
  return file_;
}

int File::native_handle() const { return open_file().fd.get(); }

fs_internal::OpenFile& File::open_file() const {
  WEFT_CHECK(file_ != nullptr, "this File was moved from");
  return *file_;
}

}  // namespace weft::fs
