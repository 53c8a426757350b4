// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Futures that may fail: their output is an absl::Status or absl::StatusOr.
// Internal.
//
// Thread safety: as absl::Status.
#ifndef WEFT_SELECT_FALLIBLE_H_
#define WEFT_SELECT_FALLIBLE_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/select/branch.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft::select_internal {

// The value of an output that is OK: of a Status, Unit.
template <class T>
struct OkValue {
  static constexpr bool kFallible = false;
};
template <>
struct OkValue<absl::Status> {
  static constexpr bool kFallible = true;
  using Type = Unit;
};
template <class T>
struct OkValue<absl::StatusOr<T>> {
  static constexpr bool kFallible = true;
  using Type = T;
};
template <class F>
using OkValueOf = typename OkValue<OutputOf<F>>::Type;

template <class F>
concept FallibleArgument = FutureArgument<F> && OkValue<OutputOf<F>>::kFallible;

// Puts the value of `output`, if it is OK, into `value`; returns its status.
template <class T>
absl::Status TakeOk(absl::StatusOr<T>&& output, std::optional<T>& value) {
  if (!output.ok()) return std::move(output).status();
  value.emplace(*std::move(output));
  return absl::OkStatus();
}
inline absl::Status TakeOk(absl::Status&& output, std::optional<Unit>& value) {
  if (output.ok()) value.emplace();
  return std::move(output);
}

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_FALLIBLE_H_
