// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskGroupCore: what a TaskGroup knows of its tasks, without their types.
//
// A task of the group has an entry, which outlives it and gets its result. An
// entry is made before its task, goes into the list of all, in the order of
// spawning, and when the task has ended also into the list of those that are
// done, in the order of ending. Whoever takes its result owns it then.
//
// The task is spawned between BeginSpawn and EndSpawn. It may end before the
// latter, on another thread or because its executor is closed; then EndSpawn
// does what Finish would have done.
//
// Every end wakes whoever waits for results, and the last one whoever waits for
// the end of all: each of them looks for itself, so no wake has to be passed on.
// No user code runs under the mutex. Internal.
//
// Thread safety: all methods from any thread.
// Lifetime: counted; the group, its tasks and its futures have references.
#ifndef WEFT_SELECT_TASK_GROUP_CORE_H_
#define WEFT_SELECT_TASK_GROUP_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "weft/sync/semaphore.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/abort_handle.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/counted_ref.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task_id.h"

namespace weft {

// When a task of a group fails: gives a status that is not OK, or throws.
enum class OnTaskError {
  kCancelRest,  // the group is cancelled: TaskGroup::CancelAll()
  kGoOn,        // the others run on
};

struct TaskGroupOptions {
  // So many tasks run at a time; the others wait. 0: all run.
  size_t limit = 0;
  OnTaskError on_error = OnTaskError::kCancelRest;
  // Where tasks are spawned; it outlives the group. Null: on the spawner of the
  // environment in which Spawn() is called.
  Spawner* spawner = nullptr;
};

namespace select_internal {

struct GroupEntry {
  struct Hook {
    GroupEntry* previous = nullptr;
    GroupEntry* next = nullptr;
  };

  virtual ~GroupEntry() = default;
  // Whether the task failed. Under the core's mutex, or when it is done.
  bool HasFailed() const {
    if (unwanted && absl::IsCancelled(status)) return false;
    return exception != nullptr || !status.ok();
  }

  // What the task threw; or a status, if it gave one or was cancelled. Written by
  // the task, before it is done.
  std::exception_ptr exception;
  absl::Status status;

  // Guarded by the core's mutex.
  TaskId id;
  bool spawning = true;              // between BeginSpawn and EndSpawn
  bool ended = false;                // meanwhile
  bool done = false;                 // in the list of those
  bool detached = false;             // in no list
  bool unwanted = false;             // by Cancel(): it is no failure then
  std::optional<AbortHandle> abort;  // while the task runs
  Hook in_all;
  Hook in_done;
};

template <GroupEntry::Hook GroupEntry::* kHook>
class GroupEntryList {
 public:
  GroupEntry* front() const { return front_; }
  static GroupEntry* Next(const GroupEntry& entry) {
    return (entry.*kHook).next;
  }
  void PushBack(GroupEntry& entry) {
    entry.*kHook = {.previous = back_, .next = nullptr};
    (back_ != nullptr ? (back_->*kHook).next : front_) = &entry;
    back_ = &entry;
  }
  void Remove(GroupEntry& entry) {
    const GroupEntry::Hook hook = entry.*kHook;
    (hook.previous != nullptr ? (hook.previous->*kHook).next : front_) =
        hook.next;
    (hook.next != nullptr ? (hook.next->*kHook).previous : back_) =
        hook.previous;
  }

 private:
  GroupEntry* front_ = nullptr;
  GroupEntry* back_ = nullptr;
};

class TaskGroupCore {
 public:
  enum class Take {
    kAny,     // what was done first
    kOldest,  // what was spawned first
  };

  explicit TaskGroupCore(const TaskGroupOptions& options);
  TaskGroupCore(const TaskGroupCore&) = delete;
  TaskGroupCore& operator=(const TaskGroupCore&) = delete;

  // Relaxed: a new reference is made from an existing one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  const TaskGroupOptions& options() const { return options_; }
  // Who may run, if there is a limit.
  sync::Semaphore& permits() { return permits_; }

  // Takes `entry` over. False if the group is cancelled: then Finish comes next.
  bool BeginSpawn(GroupEntry& entry);
  // `handle` is that of the task, or nothing if there is none: its future is gone.
  void EndSpawn(GroupEntry& entry, std::optional<JoinHandle<>> handle);
  // The task has ended and its future is gone. The entry is not the caller's
  // any more.
  void Finish(GroupEntry& entry);

  void CancelAll();
  // Cancels the task of this id, if it runs and nobody has cancelled it before.
  bool Cancel(TaskId id);
  void DetachAll();
  // Of a task that has not ended.
  bool IsDetached(const GroupEntry& entry) const;

  size_t size() const;
  size_t running() const;
  bool IsCancelled() const;

  // True once a result can be taken, or none will ever be there: then `taken` is
  // that, or null. The caller owns it.
  bool PollTake(sync_internal::WaitNode& wait, Context& cx, Take take,
                GroupEntry*& taken);
  // True once no task runs. Then TakeAll() gives the results, in the order of
  // spawning, linked by `in_all`.
  bool PollAllDone(sync_internal::WaitNode& wait, Context& cx);
  GroupEntry* TakeAll();
  void DropWait(sync_internal::WaitNode& wait, bool for_all);

  // How the first one that failed did.
  absl::Status first_status() const;
  std::exception_ptr first_exception() const;

  // For the group as a stream; one thread at a time.
  sync_internal::WaitNode& stream_wait() { return stream_wait_; }

  // The group goes: cancels. In debug builds of this library reports the errors
  // of the tasks that have ended.
  void Abandon();

 private:
  using AllList = GroupEntryList<&GroupEntry::in_all>;
  using DoneList = GroupEntryList<&GroupEntry::in_done>;
  using Lock = std::unique_lock<std::mutex>;

  ~TaskGroupCore();

  // Requires the mutex.
  GroupEntry* Find(Take take) const;
  void Remove(GroupEntry& entry);
  // Moves the handles of all tasks that run out of their entries.
  std::vector<AbortHandle> TakeAbortHandles(Lock& lock);
  // The entry's task has ended and nobody spawns it any more. Releases `lock`.
  void HandOver(Lock lock, GroupEntry& entry);

  std::atomic<uint32_t> references_{1};
  const TaskGroupOptions options_;
  sync::Semaphore permits_;

  mutable std::mutex mutex_;
  // All under `mutex_`.
  bool cancelled_ = false;
  size_t size_ = 0;     // entries in all_
  size_t running_ = 0;  // of those, the ones that are not in done_
  AllList all_;
  DoneList done_;
  absl::Status first_status_;
  std::exception_ptr first_exception_;
  sync_internal::WaitQueue takers_;
  sync_internal::WaitQueue enders_;

  sync_internal::WaitNode stream_wait_;
};

// A counted reference, or null once it was moved from.
class TaskGroupRef : public task_internal::CountedRef<TaskGroupCore> {
 public:
  using CountedRef::CountedRef;

  TaskGroupCore* operator->() const {
    WEFT_CHECK(get() != nullptr, "this TaskGroup was moved from");
    return get();
  }
};

}  // namespace select_internal
}  // namespace weft

#endif  // WEFT_SELECT_TASK_GROUP_CORE_H_
