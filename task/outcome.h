// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OutcomeOf<T>: a T, or a Status that says why there is none.
//
// Statuses flatten: a T that is itself a StatusOr or a Status stays as it is,
// and void becomes Status. Used wherever an operation can end without its
// value: a task that was dropped, a deadline that passed.
#ifndef WEFT_TASK_OUTCOME_H_
#define WEFT_TASK_OUTCOME_H_

#include <functional>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/task/polled.h"

namespace weft {
namespace task_internal {

template <class T>
struct Outcome {
  using Type = absl::StatusOr<T>;
};
template <class T>
struct Outcome<T&> {
  using Type = absl::StatusOr<std::reference_wrapper<T>>;
};
template <class T>
struct Outcome<absl::StatusOr<T>> {
  using Type = absl::StatusOr<T>;
};
template <>
struct Outcome<absl::Status> {
  using Type = absl::Status;
};
template <>
struct Outcome<void> {
  using Type = absl::Status;
};
template <>
struct Outcome<Unit> {
  using Type = absl::Status;
};

}  // namespace task_internal

template <class T>
using OutcomeOf = typename task_internal::Outcome<T>::Type;

// The OutcomeOf<T> of a ready `polled`.
template <class T>
OutcomeOf<T> MakeOutcome(Polled<T>&& polled) {
  if constexpr (std::is_void_v<T> || std::is_same_v<T, Unit>) {
    return absl::OkStatus();
  } else if constexpr (std::is_reference_v<T>) {
    return std::ref(*polled);
  } else {
    return *std::move(polled);
  }
}

}  // namespace weft

#endif  // WEFT_TASK_OUTCOME_H_
