// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ExecutorHooks: functions that an executor calls as its tasks come and go.
//
//   Executor executor;
//   executor.SetHooks({
//       .on_spawn = [](const HookedTask& task) { Trace("spawn", task.id); },
//       .on_end = [](const HookedTask& task, TaskEnd end) { ... },
//   });
//
// A task that is spawned while hooks are set is told of by all of them: once by
// on_spawn, before anybody can run it; by before_poll and after_poll around each
// poll; and once by on_end, when its future has been destroyed, polled or not, also
// where the executor's end does that. One that was spawned before is told of by
// none. One that nobody can wake any more, while it is suspended and has no handle,
// is told of by on_forgotten just before its future is destroyed. Tasks of a strand, a pool or a limit that runs on the executor are not its
// own, nor are blocking jobs.
//
// Hooks are called with no lock held. They must not throw, which ends the program,
// nor block. A park hook must not spawn, nor wake a task of this executor: the
// thread would sleep all the same.
//
// In all but on_spawn, the task is CurrentTaskId(); in on_spawn that is the task
// that spawns, if any.
//
// Thread safety: hooks are called on the thread that spawns, polls, destroys or
// parks, on several at once.
// Lifetime: as long as the executor.
#ifndef WEFT_EXECUTOR_EXECUTOR_HOOKS_H_
#define WEFT_EXECUTOR_EXECUTOR_HOOKS_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "weft/task/context.h"
#include "weft/task/runnable.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"
#include "weft/task/task_info.h"

namespace weft {

struct HookedTask {
  TaskId id;
  std::string_view name;  // empty if it has none; valid during the call
  SourceLocation spawned_at;
};

// "finished", "threw", "cancelled" or "forgotten".
std::string_view TaskEndName(TaskEnd end);

// Each may be empty.
struct ExecutorHooks {
  std::function<void(const HookedTask&)> on_spawn = nullptr;
  std::function<void(const HookedTask&)> before_poll = nullptr;
  // Also after a poll that threw.
  std::function<void(const HookedTask&)> after_poll = nullptr;
  std::function<void(const HookedTask&, TaskEnd)> on_end = nullptr;
  // What it waited for in vain is in `awaits`.
  std::function<void(const TaskInfo&)> on_forgotten = nullptr;
  // Around each wait of a thread in Run() for work, not each look for it.
  std::function<void()> on_park = nullptr;
  std::function<void()> on_unpark = nullptr;

  // Those of a PollObserver.
  bool HasPollHooks() const {
    return before_poll || after_poll || on_forgotten;
  }
  bool IsEmpty() const {
    return !on_spawn && !HasPollHooks() && !on_end && !on_park && !on_unpark;
  }
};

namespace executor_internal {

// Calls hooks, for the tasks they are about.
class HookCaller final : public task_internal::PollObserver {
 public:
  explicit HookCaller(std::shared_ptr<const ExecutorHooks> hooks);

  // Itself, if there are hooks around polls.
  task_internal::PollObserver* poll_observer() {
    return hooks_->HasPollHooks() ? this : nullptr;
  }

  // For Spawner::NoteSpawn() and NoteEnd().
  void NoteSpawn(Runnable<SpawnedTask>& task) noexcept;
  void NoteEnd(TaskEnd end) noexcept;

  void BeforePoll(task_internal::TaskHeader& task) noexcept override;
  void AfterPoll(task_internal::TaskHeader& task) noexcept override;
  void BeforeForgotten(task_internal::TaskHeader& task) noexcept override;

  void BeforePark() noexcept;
  void AfterPark() noexcept;

 private:
  const std::shared_ptr<const ExecutorHooks> hooks_;
};

// CHECK-fails if an executor that is to get hooks has `present` ones.
void CheckNoHooks(const HookCaller* present);

// Polls a task of an executor whose observer this is, or that has none.
inline void Poll(Runnable<SpawnedTask> runnable,
                 task_internal::PollObserver* observer) {
  if (observer == nullptr) [[likely]] {
    std::move(runnable).Run();
  } else {
    task_internal::RunTask(std::move(runnable).IntoRaw(), Budget::kPerPoll,
                           *observer);
  }
}

// Calls the park hooks of `hooks`, if that is not null, around its life.
class ParkHookScope {
 public:
  explicit ParkHookScope(HookCaller* hooks) : hooks_(hooks) {
    if (hooks_ != nullptr) hooks_->BeforePark();
  }
  ParkHookScope(const ParkHookScope&) = delete;
  ParkHookScope& operator=(const ParkHookScope&) = delete;
  ~ParkHookScope() {
    if (hooks_ != nullptr) hooks_->AfterPark();
  }

 private:
  HookCaller* const hooks_;
};

}  // namespace executor_internal
}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_HOOKS_H_
