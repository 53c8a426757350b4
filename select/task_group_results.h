// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How the results of a TaskGroup's tasks are given: as outcomes or JoinResults, with
// keys or without. Internal, but for Keyed.
//
// Thread safety: none needed.
#ifndef WEFT_SELECT_TASK_GROUP_RESULTS_H_
#define WEFT_SELECT_TASK_GROUP_RESULTS_H_

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "weft/select/caught_poll.h"
#include "weft/select/task_group_task.h"
#include "weft/task/join_result.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"

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

}  // namespace select_internal
}  // namespace weft

#endif  // WEFT_SELECT_TASK_GROUP_RESULTS_H_
