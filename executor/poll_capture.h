// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PollCapture: what another thread is polling right now. Internal; see
// executor/stuck_task_monitor.h.
//
// Only the thread itself may look at the task that it polls, so it is interrupted by
// a signal, whose handler notes what Running and AwaitTrace say and where the
// stack is. The handler allocates nothing and takes no lock.
//
// One capture at a time in a process. Its state, an atomic word, with the thread that is
// asked:
//
//   [idle] --Take--> [asked] --handler--> [writing] --handler--> [written]
//     ^                 |                                           |
//     +--no answer------+-------------------------Take--------------+
//
// `asked` -> `writing` and `asked` -> `idle` are compare-exchanges, so one of handler
// and Take() wins: a handler that comes late writes nothing.
//
// Thread safety: any thread.
#ifndef WEFT_EXECUTOR_POLL_CAPTURE_H_
#define WEFT_EXECUTOR_POLL_CAPTURE_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "weft/task/await_trace.h"
#include "weft/task/instant.h"
#include "weft/task/source_location.h"
#include "weft/task/task_id.h"
#include "weft/task/task_info.h"

namespace weft::executor_internal {

// As gettid(2), without a call of the system.
pid_t ThisThreadId();

struct PollCapture {
  TaskId task;  // of none: no task is polled, but perhaps a main future
  std::string name;
  SourceLocation spawned_at;
  AwaitTrace awaits;
  // Return addresses, innermost first.
  std::array<void*, 48> stack{};
  size_t stack_size = 0;

  // Makes `signal`, or for 0 one of its own choice, the one that captures, for good; the same one may be asked for
  // again. Fails with FailedPrecondition if somebody handles it already or another
  // one was chosen, with InvalidArgument if it cannot be handled.
  static absl::Status UseSignal(int signal);

  // Requires: `thread` (see gettid(2)) does not end meanwhile. False if UseSignal()
  // has never succeeded, or it does not answer by the deadline: it blocks the signal,
  // or the system has stopped it. Calls beside(argument) in the handler, if that is
  // not null.
  static bool Take(pid_t thread, Instant deadline, PollCapture& capture,
                   void (*beside)(void*) = nullptr, void* argument = nullptr);

  // About the task, of which there is one.
  TaskInfo Info() const;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_POLL_CAPTURE_H_
