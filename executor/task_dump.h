// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskDump: the live tasks of an executor, and what its threads do.
//
//   std::cerr << executor.Dump().ToString();
//
// Tasks that were never suspended are in no list, so that they cost less; those of
// them that wait in queues are counted. What a thread that did not answer keeps
// is missing: it is in a long poll, or in BlockInPlace().
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
  // The runners that did not answer in time: see ExecutorStats.
  std::vector<int> silent_runners;

  void Sort();

  // For people.
  std::string ToString() const;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_TASK_DUMP_H_
