// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskCensus: asks all who keep live tasks for a reference of each. Internal to
// the executor.
//
// A list of tasks belongs to the thread that has the runner; so that thread is
// asked, and answers when it comes by: before it sleeps, and whenever it polls its
// driver. One that is in a long poll does not come.
//
// Thread safety: any thread.
// Lifetime: shared by who asks and who is asked.
#ifndef WEFT_EXECUTOR_TASK_CENSUS_H_
#define WEFT_EXECUTOR_TASK_CENSUS_H_

#include <condition_variable>
#include <mutex>
#include <vector>

#include "weft/executor/task_list.h"
#include "weft/task/instant.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {

class TaskCensus {
 public:
  TaskCensus() = default;
  TaskCensus(const TaskCensus&) = delete;
  TaskCensus& operator=(const TaskCensus&) = delete;
  // Gives back the references that nobody has taken.
  ~TaskCensus();

  // Who is asked. It answers once, with all the tasks it has.
  void Answer(int who, const TaskList& tasks);

  // Waits until `answers` have come; false at the deadline.
  bool Wait(int answers, Instant deadline);
  // Who has answered.
  std::vector<int> Answered() const;
  // The tasks so far, each with a reference that is the caller's now.
  std::vector<SpawnedTask*> Take();

 private:
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable answered_;
  std::vector<int> who_;
  std::vector<SpawnedTask*> tasks_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TASK_CENSUS_H_
