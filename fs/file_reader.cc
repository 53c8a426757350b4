// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/file_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/fs/file.h"
#include "weft/fs/read_block.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::fs {
namespace {

// The least that a job reads, for readers with small buffers.
constexpr size_t kSmallestBlock = 64 << 10;

}  // namespace

FileReader::FileReader(const File& file, uint64_t offset)
    : file_(file.shared()), position_(offset) {}

Polled<absl::StatusOr<size_t>> FileReader::PollRead(Context& cx,
                                                    std::span<char> to) {
  using Count = absl::StatusOr<size_t>;
  if (to.empty()) return Count(0);
  if (!cx.HasBudget()) return kPending;
  if (taken_ == block_.size && !reading_.has_value()) {
    std::optional<size_t> cached =
        fs_internal::ReadCached(*file_, position_, to);
    if (cached.has_value()) {
      cx.Charge();
      position_ += *cached;
      return Count(*cached);
    }
    reading_.emplace(fs_internal::ReadBlock(
        file_, position_,
        std::clamp(to.size(), kSmallestBlock, fs_internal::kBlock)));
  }
  if (reading_.has_value()) {
    Polled<absl::StatusOr<fs_internal::Block>> read = reading_->Poll(cx);
    if (read.IsPending()) return kPending;
    reading_.reset();
    if (!read->ok()) return Count(read->status());
    block_ = **std::move(read);
    taken_ = 0;
  } else {
    cx.Charge();
  }
  return Count(TakeFromBlock(to));
}

size_t FileReader::TakeFromBlock(std::span<char> to) {
  const size_t size = std::min(to.size(), block_.size - taken_);
  // At the end of the file there is nothing, and no memory.
  if (size > 0) std::memcpy(to.data(), block_.data.get() + taken_, size);
  taken_ += size;
  position_ += size;
  return size;
}

}  // namespace weft::fs
