// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Static probes, which bpftrace, SystemTap, perf and gdb can attach to in a running
// program. Internal; docs/debugging.md says how to use them.
//
//   weft:task_spawn       id of the new task
//   weft:task_poll_begin  id, name
//   weft:task_poll_end    id, name, whether the future is ready
//   weft:task_end         id, name, a TaskEnd
//   weft:runner_park      index of the runner in its executor; -1 for a LocalExecutor
//   weft:runner_unpark    the same
//
// A name is a C string, or null.
//
// Each probe has a word that counts who is attached, which the kernel writes. So
// one that nobody uses costs a look at that word; what it would tell is not even
// computed. Whether there are probes depends on <sys/sdt.h> where probes.cc is
// compiled; if there are none the words stay 0.
//
// Thread safety: all functions from any thread.
#ifndef WEFT_TASK_PROBES_H_
#define WEFT_TASK_PROBES_H_

#include <cstdint>

extern "C" {
// Named as <sys/sdt.h> wants.
extern volatile unsigned short weft_task_spawn_semaphore;
extern volatile unsigned short weft_task_poll_begin_semaphore;
extern volatile unsigned short weft_task_poll_end_semaphore;
extern volatile unsigned short weft_task_end_semaphore;
extern volatile unsigned short weft_runner_park_semaphore;
extern volatile unsigned short weft_runner_unpark_semaphore;
}

namespace weft::task_internal {

// These hit the probes, whoever is attached.
void FireTaskSpawn(uint64_t id);
void FireTaskPollBegin(uint64_t id, const char* name);
void FireTaskPollEnd(uint64_t id, const char* name, bool ready);
void FireTaskEnd(uint64_t id, const char* name, int end);
void FireRunnerPark(int runner);
void FireRunnerUnpark(int runner);

// And these, if somebody is. `task` is a TaskIdentity.
inline void ProbeTaskSpawn(uint64_t id) {
  if (weft_task_spawn_semaphore != 0) [[unlikely]]
    FireTaskSpawn(id);
}
template <class Task>
void ProbeTaskPollBegin(const Task& task) {
  if (weft_task_poll_begin_semaphore != 0) [[unlikely]] {
    FireTaskPollBegin(task.id.value(), task.name().data());
  }
}
template <class Task>
void ProbeTaskPollEnd(const Task& task, bool ready) {
  if (weft_task_poll_end_semaphore != 0) [[unlikely]] {
    FireTaskPollEnd(task.id.value(), task.name().data(), ready);
  }
}
template <class Task, class End>
void ProbeTaskEnd(const Task& task, End end) {
  if (weft_task_end_semaphore != 0) [[unlikely]] {
    FireTaskEnd(task.id.value(), task.name().data(), static_cast<int>(end));
  }
}

// Hits the probes of a runner around its life.
class RunnerParkProbes {
 public:
  explicit RunnerParkProbes(int runner) : runner_(runner) {
    if (weft_runner_park_semaphore != 0) [[unlikely]]
      FireRunnerPark(runner_);
  }
  RunnerParkProbes(const RunnerParkProbes&) = delete;
  RunnerParkProbes& operator=(const RunnerParkProbes&) = delete;
  ~RunnerParkProbes() {
    if (weft_runner_unpark_semaphore != 0) [[unlikely]] {
      FireRunnerUnpark(runner_);
    }
  }

 private:
  const int runner_;
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_PROBES_H_
