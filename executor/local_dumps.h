// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalDumps: the live tasks of LocalExecutors, asked for on any thread. Internal.
//
// A LocalExecutor can be looked at by its own thread only; so a task is spawned on
// each, which looks. One whose thread is in a long poll does not answer; it is asked for
// the task that it polls.
//
// Thread safety: one thread at a time.
// Lifetime: the executors outlive Await(), or have been closed.
#ifndef WEFT_EXECUTOR_LOCAL_DUMPS_H_
#define WEFT_EXECUTOR_LOCAL_DUMPS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/executor/local_executor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task_id.h"

namespace weft::executor_internal {

class LocalDumps {
 public:
  // Asks the executor of `worker`, which takes tasks from `spawner`. At home it
  // answers at once.
  void Ask(int worker, LocalExecutor& executor, Spawner& spawner);

  // What has been answered by the deadline, as one; who has not is silent.
  TaskDump Await(Instant deadline);

 private:
  bool IsOurs(TaskId id) const;

  struct Answers {
    std::mutex mutex;  // guards the next one
    std::vector<std::pair<int, TaskDump>> of;
    std::condition_variable given;
  };

  const std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  std::vector<std::pair<int, LocalExecutor*>> asked_;
  std::vector<JoinHandle<void>> tasks_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_LOCAL_DUMPS_H_
