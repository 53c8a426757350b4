// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskGroup: tasks that belong together, and do not outlive their group.
//
//   TaskGroup<Page> pages({.limit = 8});
//   for (const Url& url : urls) pages.Spawn(Fetch(url));
//   absl::StatusOr<std::vector<Page>> all = co_await pages.Join();
//
//   while (auto page = co_await pages.Next()) ...  // or as they come
//
// Its tasks have one output type, T, and run on any spawner. The first one that
// fails (gives a status that is not OK, throws, or is cancelled, but not by
// Cancel()) cancels the rest, unless OnTaskError::kGoOn was asked for; Join() tells
// how it failed. A result stays until somebody takes it, and is all that stays of a
// task.
//
// With a key type, each task is spawned with a key that comes with its result:
//
//   TaskGroup<Page, Url> pages;
//   pages.Spawn(url, Fetch(url));
//   auto page = co_await pages.Next();  // page->key, page->value
//
// With a limit, so many tasks run at a time. Spawn() queues what is beyond it, in
// turn and without end; `co_await SpawnWhenRoom()` waits instead, which keeps a
// producer from running ahead of its tasks.
//
// A cancelled group stays cancelled: what is spawned in it is dropped at once,
// and has the result Cancelled.
//
// Thread safety: all methods from any thread, but moves; as a stream, one thread
// at a time.
// Lifetime: independent of its futures. Its spawner outlives it.
// Dropping: cancels its tasks; their futures are destroyed where they run: soon,
// not at once (co_await Shutdown() waits for that). Debug builds report errors
// that nobody has taken on standard error, exceptions to the handler of unhandled
// exceptions.
#ifndef WEFT_SELECT_TASK_GROUP_H_
#define WEFT_SELECT_TASK_GROUP_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/select/task_group_core.h"
#include "weft/select/task_group_end.h"
#include "weft/select/task_group_next.h"
#include "weft/select/task_group_results.h"
#include "weft/select/task_group_spawn.h"
#include "weft/select/task_group_task.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
#include "weft/task/task_id.h"

namespace weft {

template <class T = void, class Key = void>
class TaskGroup {
 public:
  // What Next() gives: OutcomeOf<T>, with a key in a Keyed.
  using Item = typename select_internal::GiveOutcome<T, Key>::Item;

  TaskGroup() : TaskGroup(TaskGroupOptions()) {}
  explicit TaskGroup(const TaskGroupOptions& options)
      : core_(new select_internal::TaskGroupCore(options)) {}
  TaskGroup(TaskGroup&&) noexcept = default;
  TaskGroup& operator=(TaskGroup&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~TaskGroup() {
    if (core_) core_->Abandon();
  }

  // Starts running a future, or what a function returns, as Spawner::Spawn does,
  // which also says what is checked. Its output is a T. Returns the task's id, which
  // Cancel() takes; that of no task if the group is cancelled.
  template <class F>
    requires(std::is_void_v<Key>)
  TaskId Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
    return MakeSpawn({}, std::move(future_or_fn), at)(core_, std::nullopt);
  }
  template <class F>
  TaskId Spawn(select_internal::KeyOrNone<Key> key, F future_or_fn,
               SourceLocation at = SourceLocation::current())
    requires(!std::is_void_v<Key>)
  {
    return MakeSpawn(std::move(key), std::move(future_or_fn), at)(core_,
                                                                  std::nullopt);
  }

  // Waits until less than `limit` tasks run, and nobody waits before it, and
  // spawns then. A future of OK, or of Cancelled, without spawning, if the group
  // is cancelled.
  template <class F>
    requires(std::is_void_v<Key>)
  auto SpawnWhenRoom(F future_or_fn,
                     SourceLocation at = SourceLocation::current()) {
    return WhenRoom(MakeSpawn({}, std::move(future_or_fn), at));
  }
  template <class F>
  auto SpawnWhenRoom(select_internal::KeyOrNone<Key> key, F future_or_fn,
                     SourceLocation at = SourceLocation::current())
    requires(!std::is_void_v<Key>)
  {
    return WhenRoom(MakeSpawn(std::move(key), std::move(future_or_fn), at));
  }

  // A future of the next result, whichever task ends first, or of nullopt if
  // there are no tasks whose results were not taken. Throws what the task threw.
  auto Next() { return NextAs<select_internal::GiveOutcome>(Take::kAny); }
  // The same in the order of spawning.
  auto NextInOrder() {
    return NextAs<select_internal::GiveOutcome>(Take::kOldest);
  }
  // As Next(), of a JoinResult, which has also the task's id, and what it threw.
  auto NextResult() { return NextAs<select_internal::GiveResult>(Take::kAny); }

  // The group is a stream (task/future.h) of what Next() gives. It wakes whoever
  // polled it last.
  Polled<std::optional<Item>> PollNext(Context& cx) {
    return select_internal::GroupNextFuture<
        T, Key, select_internal::GiveOutcome>::PollWith(*core_.operator->(),
                                                        core_->stream_wait(),
                                                        cx, Take::kAny);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("a task of a TaskGroup");
  }

  // A future that is ready once all tasks have ended and their futures are gone,
  // with how the first one failed, whoever has seen that: a status; or what it
  // threw, which is thrown again. Else OK, and where tasks have values, those
  // that nobody has taken, in the order of spawning: a StatusOr<vector<T>>, or
  // with keys a StatusOr<vector<Keyed<Key, T>>>.
  auto Join() { return End<select_internal::GiveValues>(/*cancel=*/false); }
  // The same with all results, JoinResult<T>, with keys in a Keyed.
  auto Collect() { return End<select_internal::GiveResults>(/*cancel=*/false); }
  // Cancels at its first poll; a future that is ready once all tasks are gone.
  // Results that nobody has taken are dropped.
  auto Shutdown() { return End<select_internal::GiveNothing>(/*cancel=*/true); }

  // Cancels all tasks, those that wait for their turn, too.
  void CancelAll() { core_->CancelAll(); }
  // Cancels one task, which Spawn() has returned the id of. Its result is Cancelled,
  // unless it ends by itself first. That is no failure: the others go on, and Join()
  // leaves it out. False if it has ended, or has been cancelled before. Takes as long
  // as there are tasks.
  bool Cancel(TaskId id) { return core_->Cancel(id); }
  bool IsCancelled() const { return core_->IsCancelled(); }

  // Lets the tasks run to their ends without the group, which is empty then. What
  // they throw goes to the handler of unhandled exceptions. Those that wait for
  // their turn keep their places; the limit ends when the group is cancelled.
  void DetachAll() { core_->DetachAll(); }

  // How many tasks there are whose results nobody has taken; how many of them
  // have not ended, those that wait for their turn included.
  size_t size() const { return core_->size(); }
  size_t running() const { return core_->running(); }

 private:
  using Take = select_internal::TaskGroupCore::Take;

  template <class F>
  static auto MakeSpawn(select_internal::KeyOrNone<Key> key, F future_or_fn,
                        SourceLocation at) {
    return select_internal::MakeGroupSpawn<T, Key>(std::move(key),
                                                   std::move(future_or_fn), at);
  }
  template <class Spawn>
  auto WhenRoom(Spawn spawn) {
    return select_internal::GroupRoomFuture<Spawn>(core_, std::move(spawn));
  }
  template <template <class, class> class Give>
  auto NextAs(Take take) {
    return select_internal::GroupNextFuture<T, Key, Give>(core_, take);
  }
  template <template <class, class> class Give>
  auto End(bool cancel) {
    return select_internal::GroupEndFuture<T, Key, Give>(core_, cancel);
  }

  select_internal::TaskGroupRef core_;
};

}  // namespace weft

#endif  // WEFT_SELECT_TASK_GROUP_H_
