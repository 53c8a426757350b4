// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskInfo: who a live task is, what it does, and what it waits for.
//
//   task 7 "reader", spawned at server.cc:30, waits
//     Serve at server.cc:41
//       ReadRequest at server.cc:20
//         net::TcpStream::ReadFuture
//
// Executors give these (executor/task_dump.h).
//
// Thread safety: a value.
#ifndef WEFT_TASK_TASK_INFO_H_
#define WEFT_TASK_TASK_INFO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/task/await_trace.h"
#include "weft/task/source_location.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"

namespace weft {

struct TaskInfo {
  enum class State {
    kWaiting,    // it is suspended, and somebody has its waker
    kForgotten,  // it is suspended, and nobody has: only its end can come
    kScheduled,  // it waits for a thread, or is run by one
    kRunning,    // it is in a poll, that of the thread which asks
    kElsewhere,  // it is bound to another thread, which must be asked
    kFinished,
  };

  TaskId id;
  std::string name;  // empty: none
  SourceLocation spawned_at;
  State state = State::kFinished;
  // Of a task that waits, is forgotten, or runs.
  std::vector<AwaitTrace::Line> awaits;

  // For people: as above, of several lines.
  std::string ToString() const;
};

std::string_view ToString(TaskInfo::State state);

// For people: task 7 "reader", spawned at server.cc:30,
std::string DescribeTask(TaskId id, std::string_view name,
                         const SourceLocation& spawned_at);

namespace task_internal {

// Looks at a task. The caller holds one reference that wakes nobody; those are all
// that it holds. A wake that comes meanwhile counts once this returns.
TaskInfo Inspect(TaskHeader* task);

// About a task whose owner the caller is, and that nobody can wake.
TaskInfo DescribeForgotten(const TaskHeader& task);

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_TASK_INFO_H_
