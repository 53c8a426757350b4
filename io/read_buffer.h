// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReadBuffer: the bytes of a stream that were read and not yet taken. The part
// of BufferedReader that does not depend on its stream. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_IO_READ_BUFFER_H_
#define WEFT_IO_READ_BUFFER_H_

#include <stddef.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace weft::io {

class ReadBuffer {
 public:
  static constexpr size_t kInitialSize = 8192;

  std::span<const char> data() const {
    return std::span<const char>(memory_.get() + begin_, end_ - begin_);
  }

  // Room to read into, at least half of the initial size; makes it if needed.
  std::span<char> Space();
  // `n` bytes were put into Space().
  void Added(size_t n) { end_ += n; }

  // Takes `n` bytes. Requires: n <= data().size().
  void Consume(size_t n);
  // Moves bytes to `to`, as many as there are and fit; says how many.
  size_t Take(std::span<char> to);

  // The number of bytes up to and with the first `delimiter`, which is looked
  // for from `start` on, within the first `maximum` bytes.
  std::optional<size_t> Find(char delimiter, size_t start,
                             size_t maximum) const;
  // Takes `length` bytes; with `strip`, without the last and a '\r' before it.
  std::optional<std::string> TakeLine(size_t length, bool strip);
  // Takes everything; nullopt if there is nothing.
  std::optional<std::string> TakeRest();

 private:
  std::unique_ptr<char[]> memory_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

namespace io_internal {

// No delimiter within `maximum` bytes. Code: kResourceExhausted.
absl::Status LineTooLongStatus(size_t maximum);

}  // namespace io_internal
}  // namespace weft::io

#endif  // WEFT_IO_READ_BUFFER_H_
