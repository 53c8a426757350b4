// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/access_log.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace http {
namespace {

// Writes `text`, or as much of it as the descriptor takes; may block.
void WriteText(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a log that cannot be written stops no server
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

void AccessLog::Add(std::string_view line) {
  {
    std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() > kMaxWaiting) {
      ++dropped_;
      return;
    }
    waiting_ += line;
  }
  changed_.Set();
}

void AccessLog::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.Set();
}

weft::Task<void> AccessLog::Run() {
  for (;;) {
    co_await changed_.Wait();
    changed_.Reset();  // before looking: what comes later sets it again
    bool closed = false;
    std::string text = TakeWaiting(closed);
    if (!text.empty()) {
      auto write = [fd = fd_, text = std::move(text)] { WriteText(fd, text); };
      auto job = weft::SpawnBlocking(std::move(write));
      co_await job;
    }
    if (closed) co_return;
  }
}

std::string AccessLog::TakeWaiting(bool& closed) {
  std::lock_guard lock(mutex_);
  closed = closed_;
  std::string text = std::exchange(waiting_, std::string());
  if (const size_t dropped = std::exchange(dropped_, 0); dropped > 0) {
    text += std::to_string(dropped) + " lines were dropped here\n";
  }
  return text;
}

}  // namespace http
