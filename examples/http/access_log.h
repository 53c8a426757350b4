// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AccessLog: lines for a file descriptor that may be slow, or stuck.
//
// Whoever adds a line never waits: lines pile up while a thread of the blocking
// pool writes the ones before, and are written as one. When a mebibyte waits,
// further lines are dropped and counted.
//
//   AccessLog log(STDERR_FILENO);
//   JoinHandle<void> writer = SpawnBorrowing(log.Run());
//   log.Add("hello\n");
//   ...
//   log.Close();
//   co_await writer;  // all is written
//
// Thread safety: Add and Close from any thread.
// Lifetime: outlives the task of Run. The descriptor stays open.
// Dropping: of Run, the lines that have not been written are lost.
#ifndef WEFT_EXAMPLES_HTTP_ACCESS_LOG_H_
#define WEFT_EXAMPLES_HTTP_ACCESS_LOG_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "weft/sync/event.h"
#include "weft/task/task.h"

namespace http {

class AccessLog {
 public:
  static constexpr size_t kMaxWaiting = 1 << 20;

  explicit AccessLog(int fd) : fd_(fd) {}

  // `line` ends with a line break.
  void Add(std::string_view line);

  // Lets Run end once everything is written.
  void Close();

  // Writes what is added. Once.
  weft::Task<void> Run();

 private:
  // Everything that waits, empty if nothing does; sets `closed`.
  std::string TakeWaiting(bool& closed);

  const int fd_;
  weft::sync::Event changed_;

  std::mutex mutex_;
  std::string waiting_;
  size_t dropped_ = 0;
  bool closed_ = false;
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_ACCESS_LOG_H_
