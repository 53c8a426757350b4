// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ScriptedReader and ScriptedWriter: streams in memory that move few bytes at a
// time and are pending between any two steps.
//
// Thread safety: one thread at a time.
#ifndef WEFT_TESTS_IO_SCRIPTED_STREAM_H_
#define WEFT_TESTS_IO_SCRIPTED_STREAM_H_

#include <stddef.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

// Gives `text` in pieces of `piece` bytes, then the end or, if it is not ok,
// `error`. Each second poll is pending and wakes itself.
class ScriptedReader {
 public:
  explicit ScriptedReader(std::string text, size_t piece = 1,
                          absl::Status error = absl::OkStatus())
      : text_(std::move(text)), piece_(piece), error_(std::move(error)) {}

  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to) {
    if (to.empty()) return absl::StatusOr<size_t>(0);
    if (std::exchange(pending_, !pending_)) {
      cx.waker().WakeByRef();
      return kPending;
    }
    const size_t n = std::min({text_.size() - read_, piece_, to.size()});
    if (n == 0 && !error_.ok()) return absl::StatusOr<size_t>(error_);
    std::memcpy(to.data(), text_.data() + read_, n);
    read_ += n;
    return absl::StatusOr<size_t>(n);
  }

  // How many bytes were taken from it.
  size_t read() const { return read_; }

 private:
  std::string text_;
  size_t piece_;
  absl::Status error_;
  size_t read_ = 0;
  bool pending_ = true;
};

// Takes pieces of `piece` bytes up to `limit`, then fails with `error`.
class ScriptedWriter {
 public:
  explicit ScriptedWriter(size_t piece = 1, size_t limit = std::string::npos,
                          absl::Status error = absl::OkStatus())
      : piece_(piece), limit_(limit), error_(std::move(error)) {}

  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from) {
    if (from.empty()) return absl::StatusOr<size_t>(0);
    if (std::exchange(pending_, !pending_)) {
      cx.waker().WakeByRef();
      return kPending;
    }
    const size_t n = std::min({from.size(), piece_, limit_ - written_.size()});
    if (n == 0) return absl::StatusOr<size_t>(error_);
    written_.append(from.data(), n);
    return absl::StatusOr<size_t>(n);
  }
  Polled<absl::Status> PollFlush(Context& cx) {
    if (std::exchange(pending_, !pending_)) {
      cx.waker().WakeByRef();
      return kPending;
    }
    ++flushes_;
    return absl::OkStatus();
  }
  Polled<absl::Status> PollShutdown(Context&) {
    ++shutdowns_;
    return absl::OkStatus();
  }

  const std::string& written() const { return written_; }
  int flushes() const { return flushes_; }
  int shutdowns() const { return shutdowns_; }

 private:
  size_t piece_;
  size_t limit_;
  absl::Status error_;
  std::string written_;
  int flushes_ = 0;
  int shutdowns_ = 0;
  bool pending_ = true;
};

}  // namespace weft::io

#endif  // WEFT_TESTS_IO_SCRIPTED_STREAM_H_
