// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A read first asks for what is cached (preadv2 with RWF_NOWAIT),
// straight into the caller's buffer and in pieces of kCachedPiece, so that the
// budget bounds what one poll copies. Where nothing is cached it becomes a job
// that reads up to kBlock bytes into memory of its own; they are copied out
// when the job is done, and the cache is asked again, since the system has
// probably read ahead. A write is a row of jobs, each with a copy of its block.
#include "weft/fs/file.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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
#include "weft/fs/system_call.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {
namespace {

// Copying this much takes some 20 us.
constexpr size_t kCachedPiece = 256 << 10;
// Large enough to make the hop (8-18 us) small beside the copy.
constexpr size_t kBlock = 1 << 20;

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
    std::optional<Output> result;
    if (!block_.has_value()) {
      if (ReadCached(result)) {
        cx.Charge();
        if (result.has_value()) return *std::move(result);
        continue;
      }
      StartBlock();
    }
    Polled<absl::StatusOr<Block>> polled = block_->Poll(cx);
    if (polled.IsPending()) return kPending;
    block_.reset();
    if (!polled->ok()) return Output(polled->status());
    const Block& block = **polled;
    const size_t asked = std::min(kBlock, buffer_.size() - done_);
    std::memcpy(buffer_.data() + done_, block.data.get(), block.size);
    done_ += block.size;
    if (block.size < asked) break;  // the file ends here
  }
  return Output(done_);
}

// False if the data is not cached, or nobody knows; else it has got further,
// and `result` says if that was the end.
bool ReadAtFuture::ReadCached(std::optional<Output>& result) {
  // Relaxed: a hint that orders nothing.
  if (!file_->may_read_cached.load(std::memory_order_relaxed)) return false;
  const std::span<char> rest = buffer_.subspan(done_);
  iovec piece = {rest.data(), std::min(rest.size(), kCachedPiece)};
  const ssize_t n = fs_internal::RetryOnSignal([&] {
    return preadv2(file_->fd.get(), &piece, 1,
                   static_cast<off_t>(offset_ + done_), RWF_NOWAIT);
  });
  if (n > 0) {
    done_ += static_cast<size_t>(n);
    return true;
  }
  if (n == 0) {
    result = done_;
    return true;
  }
  // Whatever else is wrong, the job finds it too.
  if (errno != EAGAIN) {
    // Relaxed: a hint that orders nothing.
    file_->may_read_cached.store(false, std::memory_order_relaxed);
  }
  return false;
}

void ReadAtFuture::StartBlock() {
  const size_t size = std::min(kBlock, buffer_.size() - done_);
  block_.emplace([file = file_, offset = offset_ + done_,
                  size]() -> absl::StatusOr<Block> {
    Block block;
    block.data = std::make_unique_for_overwrite<char[]>(size);
    const ptrdiff_t n = fs_internal::ReadFullyAt(
        file->fd.get(), block.data.get(), size, offset);
    if (n < 0) return fs_internal::PathErrno(errno, "read", file->path);
    block.size = static_cast<size_t>(n);
    return block;
  });
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

int File::native_handle() const { return open_file().fd.get(); }

fs_internal::OpenFile& File::open_file() const {
  WEFT_CHECK(file_ != nullptr, "this File was moved from");
  return *file_;
}

}  // namespace weft::fs
