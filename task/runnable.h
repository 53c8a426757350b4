// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runnable: the right to poll a spawned task once, and SpawnOn, which makes an
// executor of anything that can carry a Runnable to where it is run.
//
// SpawnOn(future, schedule) puts the future into a task and returns its first
// Runnable and its JoinHandle. Whenever the task is woken, schedule(runnable)
// is called on the waking thread; sooner or later somebody calls Run on what it
// was given. So every "post this function" is an executor:
//
//   auto spawned = SpawnOn(Work(), [&](Runnable<> r) {
//     void* raw = std::move(r).IntoRaw();  // std::function wants a copy
//     loop.Post([raw] { Runnable<>::FromRaw(raw).Run(); });
//   });
//   std::move(spawned.runnable).Schedule();
//
// A task's states are in task/task_state.h. There is at most one Runnable at a
// time; a wake during Run makes the next one when Run ends. (But see
// SpawnLocalOn.)
//
// Metadata: a value of the executor's own in the task, of any type M. If M has
// them, these members are called, the first two by the thread that runs the task:
//   void OnPending()  after each pending poll, while no other thread can run it;
//   void OnGone()     once, when the future has been destroyed; or OnGone(TaskEnd),
//                     which is told how the task ended;
//   void OnCancel()   when the handle is dropped or cancelled, by that thread, and
//                     also while another thread runs the task. Whoever finds the
//                     Runnable in a queue may drop it here, to free it at once.
//
// A schedule function must not throw; that ends the program. A wake can tell
// nobody that it failed, and the task would be lost.
//
// Thread safety: the schedule function is called from any thread that wakes the
// task, possibly from several at once for different tasks. A Runnable may be
// run on any thread, except one made by SpawnLocalOn.
// Lifetime: schedule function and metadata live until the last waker and the
// handle are gone, so what the function refers to must, too. weft::Spawn() inside such a task finds
// the loop only if the loop is a Spawner (task/spawner.h) and the environment
// names it while it runs tasks.
// Dropping: a Runnable that is destroyed without Run cancels its task: the future
// is destroyed at once. That may wake other tasks of the loop, and so call the
// schedule function: a loop that ends drains its queue until nothing comes.
#ifndef WEFT_TASK_RUNNABLE_H_
#define WEFT_TASK_RUNNABLE_H_

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"
#include "weft/task/task_identity.h"
#include "weft/task/waker.h"

namespace weft {

template <class M = Unit>
class [[nodiscard]] Runnable {
 public:
  Runnable(Runnable&& other) noexcept
      : raw_(std::exchange(other.raw_, nullptr)) {}
  Runnable& operator=(Runnable&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Runnable() {
    if (raw_ != nullptr) task_internal::DropRunnable(raw_);
  }

  // Polls the task once, with `budget` units and the thread's current
  // environment, and destroys it if it is finished or cancelled. True if the
  // task was woken meanwhile and has handed its next Runnable to the schedule
  // function.
  bool Run(uint32_t budget = Budget::kPerPoll) && {
    return task_internal::RunTask(std::exchange(raw_, nullptr), budget);
  }

  // Destroys the task for want of room: as dropping this, but the handle's
  // Outcome() says ResourceExhausted instead of Cancelled.
  void Refuse() && {
    task_internal::RefuseRunnable(std::exchange(raw_, nullptr));
  }

  // Passes this to the task's schedule function.
  void Schedule() && {
    void* raw = std::exchange(raw_, nullptr);
    task_internal::TaskOf(raw)->vtable->schedule(raw, ScheduleInfo());
  }

  M& metadata() const {
    return static_cast<task_internal::TaskHeaderWith<M>*>(task())->metadata;
  }

  TaskId id() const { return task()->id; }
  // Empty if the task has none. Valid as long as this.
  std::string_view name() const { return task()->name(); }

  // Gives a new task what SpawnBuilder::Extras() returned: a name, inherited
  // task-local values. Requires: neither this nor the handle was used.
  void SetExtras(TaskExtrasPtr extras) { task()->extras = std::move(extras); }

  // Where a new task was spawned, for reports. Requires: as SetExtras().
  void SetSpawnedAt(SourceLocation at) { task()->spawned_at = at; }
  SourceLocation spawned_at() const { return task()->spawned_at; }

  // A waker for the task.
  Waker MakeWaker() const { return task_internal::MakeTaskWaker(task()); }

  // Carries the Runnable through a C interface. Whoever gets the pointer owns
  // the Runnable and gives it to FromRaw exactly once.
  void* IntoRaw() && { return std::exchange(raw_, nullptr); }
  static Runnable FromRaw(void* raw) { return Runnable(raw); }

 private:
  explicit Runnable(void* raw) : raw_(raw) {}

  task_internal::TaskHeader* task() const {
    return task_internal::TaskOf(raw_);
  }

  void* raw_;  // see task_internal::TaskOf
};

// What SpawnOn returns.
template <class T, class M>
struct Spawned {
  Runnable<M> runnable;
  JoinHandle<T> handle;
};

namespace task_internal {

// `thread`: the only one that may run it, or null.
template <class F, class S, class M>
Spawned<OutputOf<F>, M> SpawnOnThread(F future, S schedule, M metadata,
                                      const void* thread) {
  TaskHeader* task = TaskCell<F, S, M, Runnable<M>>::Make(
      std::move(future), std::move(schedule), std::move(metadata), thread);
  return {Runnable<M>::FromRaw(FirstRunnable(task)),
          MakeHandle<OutputOf<F>>(task)};
}

}  // namespace task_internal

// Puts `future` into a task whose wakes call `schedule`, a callable that takes
// (Runnable<M>) or (Runnable<M>, ScheduleInfo). One allocation. Nothing runs
// and `schedule` is not called before the first Runnable is used.
template <Future F, class S, class M = Unit>
Spawned<OutputOf<F>, M> SpawnOn(F future, S schedule, M metadata = M()) {
  return task_internal::SpawnOnThread(std::move(future), std::move(schedule),
                                      std::move(metadata), nullptr);
}

// The same for a future that must stay on the calling thread, its home. What
// happens there costs no atomic operation beyond references. Runnables may
// travel (a waker may fire anywhere) but Run only there; one that is dropped on
// another thread is posted home through `schedule`, which therefore must reach
// the home thread for as long as the task may be woken. If it cannot, and drops
// the Runnable itself on a foreign thread, the future is leaked.
//
// What other threads want of the task comes home as a Runnable of its own,
// beside the one that the home thread may have made; Run then does what was
// asked. One that was sent just before the task ended may arrive after it.
template <Future F, class S, class M = Unit>
Spawned<OutputOf<F>, M> SpawnLocalOn(F future, S schedule, M metadata = M()) {
  return task_internal::SpawnOnThread(std::move(future), std::move(schedule),
                                      std::move(metadata),
                                      task_internal::ThisThread());
}

}  // namespace weft

#endif  // WEFT_TASK_RUNNABLE_H_
