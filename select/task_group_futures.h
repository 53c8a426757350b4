// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a TaskGroup's methods return: futures of one result, and of all.
//
// A result leaves the group in the poll that gives it, so a future that is
// dropped has none. They share the group's core, and may outlive the group; then
// they see its tasks cancelled. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_TASK_GROUP_FUTURES_H_
#define WEFT_SELECT_TASK_GROUP_FUTURES_H_

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/select/caught_poll.h"
#include "weft/select/task_group_core.h"
#include "weft/select/task_group_task.h"
#include "weft/sync/semaphore.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/join_result.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft {

// What belongs to a key.
template <class Key, class T>
struct Keyed {
  Key key;
  T value;
};

namespace select_internal {

template <class Key, class T>
struct WithKeyOf {
  using Type = Keyed<Key, T>;
};
template <class T>
struct WithKeyOf<void, T> {
  using Type = T;
};
template <class Key, class T>
using WithKey = typename WithKeyOf<Key, T>::Type;

template <class Key, class T>
WithKey<Key, T> MakeWithKey(KeyOrNone<Key>&& key, T&& value) {
  if constexpr (std::is_void_v<Key>) {
    return std::move(value);
  } else {
    return {std::move(key), std::move(value)};
  }
}

// How results are given: each of these makes an item of a finished entry.

// As an outcome; or throws what the task threw.
template <class T, class Key>
struct GiveOutcome {
  using Item = WithKey<Key, OutcomeOf<T>>;

  static Item Give(std::unique_ptr<TypedGroupEntry<T, Key>> entry) {
    if (entry->exception != nullptr) {
      std::exception_ptr exception = std::move(entry->exception);
      entry.reset();
      Rethrow(exception);
    }
    return MakeWithKey<Key, OutcomeOf<T>>(std::move(entry->key),
                                          OutcomeIn(*entry));
  }

 private:
  static OutcomeOf<T> OutcomeIn(TypedGroupEntry<T, Key>& entry) {
    if (!entry.value.has_value()) return std::move(entry.status);
    if constexpr (std::is_same_v<StoredOf<T>, Unit>) {
      return absl::OkStatus();
    } else {
      return *std::move(entry.value);
    }
  }
};

// As a JoinResult.
template <class T, class Key>
struct GiveResult {
  using Item = WithKey<Key, JoinResult<T>>;

  static Item Give(std::unique_ptr<TypedGroupEntry<T, Key>> entry) {
    return MakeWithKey<Key, JoinResult<T>>(
        std::move(entry->key),
        JoinResult<T>(entry->id, std::move(entry->value),
                      std::move(entry->exception), std::move(entry->status)));
  }
};

// A place in one of the core's queues.
class GroupWait {
 public:
  GroupWait(TaskGroupRef core, bool for_all)
      : core_(std::move(core)), for_all_(for_all) {}
  GroupWait(GroupWait&&) = default;
  GroupWait& operator=(GroupWait&&) = delete;
  ~GroupWait() {
    if (node_.polled) core_->DropWait(node_, for_all_);
  }

  TaskGroupCore& core() { return *core_.operator->(); }
  sync_internal::WaitNode& node() { return node_; }

 private:
  TaskGroupRef core_;
  const bool for_all_;
  sync_internal::WaitNode node_;
};

// The next result, in the order that `take` says; nullopt if there are no tasks.
template <class T, class Key, template <class, class> class Give>
class [[nodiscard]] GroupNextFuture {
 public:
  using Entry = TypedGroupEntry<T, Key>;
  using Output = std::optional<typename Give<T, Key>::Item>;

  GroupNextFuture(TaskGroupRef core, TaskGroupCore::Take take)
      : wait_(std::move(core), /*for_all=*/false), take_(take) {}

  Polled<Output> Poll(Context& cx) {
    return PollWith(wait_.core(), wait_.node(), cx, take_);
  }

  static Polled<Output> PollWith(TaskGroupCore& core,
                                 sync_internal::WaitNode& wait, Context& cx,
                                 TaskGroupCore::Take take) {
    GroupEntry* taken = nullptr;
    if (!core.PollTake(wait, cx, take, taken)) return kPending;
    if (taken == nullptr) return Output();
    return Output(
        Give<T, Key>::Give(std::unique_ptr<Entry>(static_cast<Entry*>(taken))));
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("a task of a TaskGroup");
  }

 private:
  GroupWait wait_;
  const TaskGroupCore::Take take_;
};

// The results that nobody has taken, in the order of spawning.
template <class T, class Key>
std::vector<std::unique_ptr<TypedGroupEntry<T, Key>>> TakeEntries(
    TaskGroupCore& core) {
  using Entry = TypedGroupEntry<T, Key>;
  std::vector<std::unique_ptr<Entry>> entries;
  for (GroupEntry* entry = core.TakeAll(); entry != nullptr;) {
    GroupEntry* const next = entry->in_all.next;
    entries.emplace_back(static_cast<Entry*>(entry));
    entry = next;
  }
  return entries;
}

// How a group ends: each of these makes an output of a core whose tasks are gone.

template <class Key, class Outcome>
struct JoinOutput {
  using Type =
      absl::StatusOr<std::vector<WithKey<Key, typename Outcome::value_type>>>;
};
template <class Key>
struct JoinOutput<Key, absl::Status> {
  using Type = absl::Status;
};

// The first error, or the values.
template <class T, class Key>
struct GiveValues {
  using Output = typename JoinOutput<Key, OutcomeOf<T>>::Type;

  static Output Give(TaskGroupCore& core) {
    if (std::exception_ptr exception = core.first_exception()) {
      TakeEntries<T, Key>(core).clear();
      Rethrow(exception);
    }
    auto entries = TakeEntries<T, Key>(core);
    absl::Status status = core.first_status();
    if constexpr (std::is_same_v<Output, absl::Status>) {
      return status;
    } else {
      if (!status.ok()) return status;
      typename Output::value_type values;
      values.reserve(entries.size());
      for (auto& entry : entries) {
        auto item = GiveOutcome<T, Key>::Give(std::move(entry));
        if constexpr (std::is_void_v<Key>) {
          values.push_back(*std::move(item));
        } else {
          values.push_back({std::move(item.key), *std::move(item.value)});
        }
      }
      return values;
    }
  }
};

// All results.
template <class T, class Key>
struct GiveResults {
  using Output = std::vector<typename GiveResult<T, Key>::Item>;

  static Output Give(TaskGroupCore& core) {
    auto entries = TakeEntries<T, Key>(core);
    Output results;
    results.reserve(entries.size());
    for (auto& entry : entries) {
      results.push_back(GiveResult<T, Key>::Give(std::move(entry)));
    }
    return results;
  }
};

// Nothing.
template <class T, class Key>
struct GiveNothing {
  using Output = void;

  static Unit Give(TaskGroupCore& core) {
    TakeEntries<T, Key>(core).clear();
    return Unit();
  }
};

// Ready once no task is left.
template <class T, class Key, template <class, class> class Give>
class [[nodiscard]] GroupEndFuture {
 public:
  using Output = typename Give<T, Key>::Output;

  // With `cancel`, cancels the group at its first poll.
  GroupEndFuture(TaskGroupRef core, bool cancel)
      : wait_(std::move(core), /*for_all=*/true), cancel_(cancel) {}

  Polled<Output> Poll(Context& cx) {
    if (std::exchange(cancel_, false)) wait_.core().CancelAll();
    if (!wait_.core().PollAllDone(wait_.node(), cx)) return kPending;
    return Give<T, Key>::Give(wait_.core());
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("all tasks of a TaskGroup");
  }

 private:
  GroupWait wait_;
  bool cancel_;
};

// Calls spawn(core, permit) once there is room; Cancelled if the group is.
template <class Spawn>
class [[nodiscard]] GroupRoomFuture {
 public:
  using Output = absl::Status;

  GroupRoomFuture(TaskGroupRef core, Spawn spawn)
      : core_(std::move(core)), spawn_(std::move(spawn)) {}

  Polled<absl::Status> Poll(Context& cx) {
    std::optional<GroupPermit> permit;
    if (core_->options().limit != 0) {
      if (!acquire_.has_value()) acquire_.emplace(core_->permits().Acquire());
      auto acquired = acquire_->Poll(cx);
      if (acquired.IsPending()) return kPending;
      if (!acquired->ok()) return CancelledStatus();
      permit.emplace(*std::move(*acquired));
    }
    if (core_->IsCancelled()) return CancelledStatus();
    spawn_(core_, std::move(permit));
    return absl::OkStatus();
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("room in a TaskGroup");
  }

 private:
  // What comes later is destroyed first.
  TaskGroupRef core_;
  Spawn spawn_;
  std::optional<sync::Semaphore::AcquireFuture> acquire_;
};

}  // namespace select_internal
}  // namespace weft

#endif  // WEFT_SELECT_TASK_GROUP_FUTURES_H_
