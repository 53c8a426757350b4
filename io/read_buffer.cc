// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/read_buffer.h"

#include <stddef.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace weft::io {

std::span<char> ReadBuffer::Space() {
  const size_t size = end_ - begin_;
  if (capacity_ - end_ < kInitialSize / 2) {
    // Moving is paid for by the bytes taken; growing doubles. So each byte is
    // moved a constant number of times, however long the line.
    const bool full = capacity_ - size < std::max(kInitialSize / 2, size);
    const size_t capacity =
        full ? std::max(kInitialSize, 2 * capacity_) : capacity_;
    std::unique_ptr<char[]> larger(full ? new char[capacity] : nullptr);
    char* to = full ? larger.get() : memory_.get();
    if (size != 0) std::memmove(to, memory_.get() + begin_, size);
    if (full) memory_ = std::move(larger);
    capacity_ = capacity;
    begin_ = 0;
    end_ = size;
  }
  return std::span<char>(memory_.get() + end_, capacity_ - end_);
}

void ReadBuffer::Consume(size_t n) {
  begin_ += n;
  if (begin_ == end_) begin_ = end_ = 0;
}

size_t ReadBuffer::Take(std::span<char> to) {
  const size_t n = std::min(to.size(), data().size());
  if (n != 0) std::memcpy(to.data(), data().data(), n);
  Consume(n);
  return n;
}

std::optional<size_t> ReadBuffer::Find(char delimiter, size_t start,
                                       size_t maximum) const {
  const std::span<const char> bytes =
      data().first(std::min(data().size(), maximum));
  // The buffer may have been used by another call since.
  if (start >= bytes.size()) return std::nullopt;
  const void* found =
      std::memchr(bytes.data() + start, delimiter, bytes.size() - start);
  if (found == nullptr) return std::nullopt;
  return static_cast<const char*>(found) - bytes.data() + 1;
}

std::optional<std::string> ReadBuffer::TakeLine(size_t length, bool strip) {
  size_t end = length;
  if (strip) {
    --end;
    if (end != 0 && data()[end - 1] == '\r') --end;
  }
  std::string line(data().data(), end);
  Consume(length);
  return line;
}

std::optional<std::string> ReadBuffer::TakeRest() {
  if (data().empty()) return std::nullopt;
  std::string rest(data().data(), data().size());
  Consume(data().size());
  return rest;
}

namespace io_internal {

absl::Status LineTooLongStatus(size_t maximum) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no end of line within ", maximum, " bytes"));
}

}  // namespace io_internal
}  // namespace weft::io
