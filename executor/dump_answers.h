// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DumpAnswers: what the home threads of LocalExecutors tell of their tasks. Internal;
// see executor/local_dumps.h.
//
// Thread safety: any thread.
// Lifetime: shared by who asks and, while they answer, by those who are asked.
#ifndef WEFT_EXECUTOR_DUMP_ANSWERS_H_
#define WEFT_EXECUTOR_DUMP_ANSWERS_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/executor/steady_deadline.h"
#include "weft/executor/task_dump.h"
#include "weft/task/instant.h"

namespace weft::executor_internal {

class DumpAnswers {
 public:
  DumpAnswers() = default;
  DumpAnswers(const DumpAnswers&) = delete;
  DumpAnswers& operator=(const DumpAnswers&) = delete;

  void Give(int who, TaskDump dump) {
    const std::lock_guard lock(mutex_);
    given_.emplace_back(who, std::move(dump));
    changed_.notify_all();
  }

  // Waits until `count` have been given; false at the deadline.
  bool Wait(size_t count, Instant deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, SteadyDeadline(deadline),
                               [&] { return given_.size() >= count; });
  }
  std::vector<std::pair<int, TaskDump>> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(given_, {});
  }

 private:
  std::mutex mutex_;  // guards the next one
  std::vector<std::pair<int, TaskDump>> given_;
  std::condition_variable changed_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_DUMP_ANSWERS_H_
