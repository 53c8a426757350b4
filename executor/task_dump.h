// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskDump: the live tasks of an executor, and what its threads do.
//
//   std::cerr << executor.Dump().ToString();
//
// Tasks that were never suspended are in no list, so that they cost less; those of
// them that wait in queues are counted.
//
// A thread in a long poll does not answer. If there is, or was, a StuckTaskMonitor or
// a TaskLints, the thread is interrupted by its signal, and tells what it polls, perhaps
// for another executor; an Executor's also which tasks it has. Else these are missing.
//
// Thread safety: a value.
#ifndef WEFT_EXECUTOR_TASK_DUMP_H_
#define WEFT_EXECUTOR_TASK_DUMP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "weft/task/task_info.h"

namespace weft {

struct TaskDump {
  // By their ids.
  std::vector<TaskInfo> tasks;
  // How many tasks are in queues, also such as are in `tasks`.
  size_t queued = 0;
  // The runners, see ExecutorStats, of which tasks may be missing.
  std::vector<int> silent_runners;

  // By id; of two about the same task the one that runs stays.
  void Sort();

  // For people.
  std::string ToString() const;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_TASK_DUMP_H_
