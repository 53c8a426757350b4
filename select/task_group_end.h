// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What TaskGroup::Join(), Collect() and Shutdown() return: futures of the end of all
// tasks. As those of task_group_next.h they share the group's core. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_TASK_GROUP_END_H_
#define WEFT_SELECT_TASK_GROUP_END_H_

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/select/caught_poll.h"
#include "weft/select/task_group_core.h"
#include "weft/select/task_group_results.h"
#include "weft/select/task_group_task.h"
#include "weft/select/task_group_wait.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"

namespace weft::select_internal {

// The results that nobody has taken, in the order of spawning.
template <class T, class Key>
std::vector<std::unique_ptr<TypedGroupEntry<T, Key>>> TakeEntries(
    TaskGroupCore& core) {
  using Entry = TypedGroupEntry<T, Key>;
  std::vector<std::unique_ptr<Entry>> entries;
  // Before they are taken: who takes them has room for them.
  entries.reserve(core.size());
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
        if (!entry->status.ok()) continue;  // cancelled by TaskGroup::Cancel()
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

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_TASK_GROUP_END_H_
