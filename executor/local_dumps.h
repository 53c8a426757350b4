// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalDumps: the live tasks of LocalExecutors, asked for on any thread. Internal.
//
// A LocalExecutor can be looked at by its own thread only; so that one is asked, and
// answers when it looks after what has come from other threads. One in a long poll does
// not; it is asked for the task that it polls.
//
// Thread safety: one thread at a time.
// Lifetime: the executors outlive Await(), or have been closed.
#ifndef WEFT_EXECUTOR_LOCAL_DUMPS_H_
#define WEFT_EXECUTOR_LOCAL_DUMPS_H_

#include <memory>
#include <utility>
#include <vector>

#include "weft/executor/dump_answers.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/instant.h"

namespace weft::executor_internal {

class LocalDumps {
 public:
  // Asks the executor of `worker`. At home it answers at once.
  void Ask(int worker, LocalExecutor& executor);

  // What has been answered by the deadline, as one; who has not is silent. Somebody's
  // home thread answers others meanwhile.
  TaskDump Await(Instant deadline);

 private:
  void Wait(Instant deadline);

  const std::shared_ptr<DumpAnswers> answers_ = std::make_shared<DumpAnswers>();
  std::vector<std::pair<int, LocalExecutor*>> asked_;
  std::vector<LocalExecutor*> own_;  // whose home thread this is
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_LOCAL_DUMPS_H_
