// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReadCursor and WriteCursor: how far a transfer of many steps has come.
//
// ReadExact and WriteAll move their cursor with each step, so whoever keeps it
// outside knows what was done when the transfer failed, or was dropped, and may
// go on from there. (Sending again from the start is the classic mistake.)
//
//   io::WriteCursor cursor(message);
//   absl::Status status =
//       co_await timer::Timeout(limit, io::WriteAll(stream, cursor));
//   if (!status.ok()) Log(cursor.done(), " of ", message.size());
//
// Thread safety: as a pointer.
// Lifetime: the memory outlives the cursor; the cursor outlives the transfer.
#ifndef WEFT_IO_CURSOR_H_
#define WEFT_IO_CURSOR_H_

#include <stddef.h>

#include <span>

#include "absl/status/status.h"

namespace weft::io {

template <class Char>
class Cursor {
 public:
  explicit Cursor(std::span<Char> all) : all_(all) {}

  // The bytes that were moved, and how many they are.
  size_t done() const { return done_; }
  std::span<Char> finished() const { return all_.first(done_); }
  // The bytes still to be moved.
  std::span<Char> rest() const { return all_.subspan(done_); }
  size_t size() const { return all_.size(); }

  // Requires: n <= rest().size().
  void Advance(size_t n) { done_ += n; }

 private:
  std::span<Char> all_;
  size_t done_ = 0;
};

using ReadCursor = Cursor<char>;
using WriteCursor = Cursor<const char>;

namespace io_internal {

// `status` with "(after DONE of SIZE bytes)" added and everything else kept.
absl::Status AddProgress(const absl::Status& status, size_t done, size_t size);

// The stream ended after `done` of `size` bytes. Code: kOutOfRange.
absl::Status EndOfStreamStatus(size_t done, size_t size);

}  // namespace io_internal
}  // namespace weft::io

#endif  // WEFT_IO_CURSOR_H_
