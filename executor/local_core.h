// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalCore: what a LocalExecutor's tasks and wakers point to. Internal.
//
// Cores come from a pool that never gives memory back, so that a thread that is
// just waking a task finds one whatever became of the executor.
//
// Thread safety: Schedule from any thread, the rest from the home thread.
#ifndef WEFT_EXECUTOR_LOCAL_CORE_H_
#define WEFT_EXECUTOR_LOCAL_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/task_list.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

class LocalCore final : public Spawner {
 public:
  // A core from the pool, at home on this thread; and back, once it is closed.
  static LocalCore* Acquire();
  static void Release(LocalCore* core);

  bool IsHome() const;
  void CheckHome() const;
  void Run(absl::FunctionRef<bool(Context&)> poll);
  bool TryTick();
  bool IsEmpty();
  size_t Close();
  bool IsLocal() const override { return IsHome(); }

 private:
  class RunScope;

  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void Register(SpawnedTask& task) override { suspended_.Add(task); }
  void Unregister(SpawnedTask& task) override { suspended_.Remove(task); }

  // Moves what other threads have sent to the ready tasks.
  void TakeInbox();
  bool RunOne();
  void PollDriver(Driver& driver);
  void ParkIn(Driver& driver, const RunSignal& signal);
  // Destroys the ready tasks, and those that this makes ready.
  size_t Drain();

  // Written while no other thread knows this core; read by any.
  const void* home_ = nullptr;

  // The home thread's.
  std::deque<void*> ready_;  // Runnable<SpawnedTask>::IntoRaw()
  TaskList suspended_;
  bool running_ = false;  // in Run()
  int ticking_ = 0;       // in TryTick()
  uint32_t since_driver_ = 0;
  // How many tasks may still run before one that has yielded; -1: none has.
  int64_t before_yield_ = -1;
  std::vector<void*> taken_;  // TakeInbox's, kept for its memory

  std::mutex mutex_;
  // Guarded by mutex_.
  bool closed_ = true;
  std::vector<void*> inbox_;
  Waker unparker_;                  // of the driver that Run() may be parked in
  LocalCore* next_free_ = nullptr;  // the pool's
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_LOCAL_CORE_H_
