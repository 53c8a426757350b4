// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ManualCore: the tasks of an executor that runs one of them when told to.
// Internal, for tests.
//
// Tasks are numbered from 1 on in the order in which they were spawned, which for a
// given program and order of runs is always the same; TaskId is not.
//
// Thread safety: Run and Pop by one thread at a time; the rest from any thread.
// Lifetime: never destroyed; given back, and used again.
#ifndef WEFT_TASK_MANUAL_CORE_H_
#define WEFT_TASK_MANUAL_CORE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_info.h"

namespace weft::task_internal {

class ManualCore final : public Spawner {
 public:
  // How a task is known to people.
  struct Label {
    uint32_t number;
    std::string name;  // empty if it has none
  };

  // One without tasks; and back, when it has none.
  static ManualCore& Take();
  void GiveBack();

  // The woken tasks, in the order of their wakes: how many, and one taken out.
  size_t woken() const;
  std::optional<Runnable<SpawnedTask>> Pop(size_t which = 0);
  static Label LabelOf(const Runnable<SpawnedTask>& runnable);

  // Runs what Pop() has returned.
  void Run(Runnable<SpawnedTask> runnable, uint32_t budget);

  // Tasks that exist; those of them that are suspended, and what each waits for, in
  // the order in which they were spawned.
  size_t live() const;
  std::vector<std::pair<Label, TaskInfo>> Suspended() const;

  // Destroys every task's future on the calling thread.
  void DestroyTasks();

 private:
  ManualCore() = default;

  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void Register(SpawnedTask& task) override;
  void Unregister(SpawnedTask& task) override;
  void WakeRegistered();

  void* running_ = nullptr;  // used by the running thread only

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  // Guarded by mutex_.
  uint32_t spawned_ = 0;  // a task's number is in its SpawnedTask::shard
  std::deque<Runnable<SpawnedTask>> queue_;
  std::map<uint32_t, void*> registered_;  // with what makes a Runnable of it
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_MANUAL_CORE_H_
