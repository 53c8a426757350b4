// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Polled<T>: what polling a future gives: ready with a value, or pending.
//
// A Polled<T> holds a T, a T& or (for T = void) only the fact of being ready.
// Generic code that wants to store outputs uses UnitIfVoid<T>, in which void is
// the empty type Unit.
//
//   Polled<int> p = future.Poll(cx);
//   if (p.IsPending()) return kPending;
//   Use(*std::move(p));
//
// Thread safety: as an int.
#ifndef WEFT_TASK_POLLED_H_
#define WEFT_TASK_POLLED_H_

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace weft {

// The output of something that has nothing to say beyond being finished.
struct Unit {
  friend constexpr bool operator==(Unit, Unit) = default;
};

template <class T>
using UnitIfVoid = std::conditional_t<std::is_void_v<T>, Unit, T>;

// How an output is kept in an optional, a tuple, a container: void as Unit, a
// reference in a wrapper.
template <class T>
using StoredOf =
    std::conditional_t<std::is_reference_v<T>,
                       std::reference_wrapper<std::remove_reference_t<T>>,
                       UnitIfVoid<T>>;

// `return kPending;` makes a pending Polled of any type.
struct PendingTag {
  explicit constexpr PendingTag() = default;
};
inline constexpr PendingTag kPending{};

template <class T>
class [[nodiscard]] Polled {
 public:
  using value_type = T;

  constexpr Polled(PendingTag) {}                          // NOLINT: implicit
  constexpr Polled(T value) : value_(std::move(value)) {}  // NOLINT: implicit

  constexpr bool IsReady() const { return value_.has_value(); }
  constexpr bool IsPending() const { return !IsReady(); }
  constexpr explicit operator bool() const { return IsReady(); }

  // Requires: IsReady().
  constexpr T& operator*() & { return *value_; }
  constexpr const T& operator*() const& { return *value_; }
  constexpr T&& operator*() && { return *std::move(value_); }
  constexpr T* operator->() { return &*value_; }
  constexpr const T* operator->() const { return &*value_; }

  // Becomes ready with a value made in place.
  template <class... Args>
  constexpr void Emplace(Args&&... args) {
    value_.emplace(std::forward<Args>(args)...);
  }

 private:
  std::optional<T> value_;
};

template <class T>
class [[nodiscard]] Polled<T&> {
 public:
  using value_type = T&;

  constexpr Polled(PendingTag) {}  // NOLINT: implicit
  constexpr Polled(T& value) : value_(std::addressof(value)) {}  // NOLINT

  constexpr bool IsReady() const { return value_ != nullptr; }
  constexpr bool IsPending() const { return !IsReady(); }
  constexpr explicit operator bool() const { return IsReady(); }

  // Requires: IsReady().
  constexpr T& operator*() const { return *value_; }
  constexpr T* operator->() const { return value_; }

 private:
  T* value_ = nullptr;
};

template <>
class [[nodiscard]] Polled<void> {
 public:
  using value_type = void;

  constexpr Polled(PendingTag) {}           // NOLINT: implicit
  constexpr Polled(Unit) : ready_(true) {}  // NOLINT: implicit

  constexpr bool IsReady() const { return ready_; }
  constexpr bool IsPending() const { return !ready_; }
  constexpr explicit operator bool() const { return ready_; }

  // Requires: IsReady().
  constexpr void operator*() const {}

 private:
  bool ready_ = false;
};

namespace task_internal {

// `polled`, which is pending, becomes what poll() returns, with no move between; it
// stays pending if that throws.
template <class T, class PollFn>
void PollInto(Polled<T>& polled, PollFn poll) {
  struct Guard {
    ~Guard() {
      if (polled != nullptr) ::new (polled) Polled<T>(kPending);
    }
    Polled<T>* polled;
  } guard{&polled};
  // A pending one has nothing to destroy.
  ::new (&polled) Polled<T>(poll());
  guard.polled = nullptr;
}

}  // namespace task_internal

// The value of a ready `polled`, with void as Unit.
template <class T>
constexpr UnitIfVoid<T> TakeReady(Polled<T>&& polled) {
  if constexpr (std::is_void_v<T>) {
    return Unit{};
  } else {
    return *std::move(polled);
  }
}

}  // namespace weft

#endif  // WEFT_TASK_POLLED_H_
