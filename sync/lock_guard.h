// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LockGuard and LockFuture: what the guards and the futures of Mutex and RwLock are
// made of. Internal.
//
// A guard is who holds the lock: it has a Holder of the lock's core (a pointer, or
// for owned guards a shared_ptr that keeps the whole lock alive) and a pointer to
// what the lock protects, or for mapped guards to a part of that. Mode::kHeld says
// what it gives back when it is destroyed.
//
// Thread safety: one thread at a time.
// Lifetime: guards with a plain pointer are outlived by their lock.
#ifndef WEFT_SYNC_LOCK_GUARD_H_
#define WEFT_SYNC_LOCK_GUARD_H_

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/sync/lock_core.h"
#include "weft/sync/lock_word.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync_internal {

using BorrowedCore = ExclusionCore*;
using OwnedCore = std::shared_ptr<ExclusionCore>;

struct WriteMode {
  static constexpr ExclusionRules::Request kHeld = ExclusionRules::kWrite;
};
struct ReadMode {
  static constexpr ExclusionRules::Request kHeld = ExclusionRules::kRead;
};
struct UpgradableMode {
  static constexpr ExclusionRules::Request kHeld =
      ExclusionRules::kUpgradableRead;
};

template <class T, class Mode, class H>
class [[nodiscard]] LockGuard {
 public:
  using Value = T;
  using Holder = H;
  static constexpr ExclusionRules::Request kHeld = Mode::kHeld;

  // Takes over what Mode says of the lock.
  LockGuard(Holder core, T* value) : core_(std::move(core)), value_(value) {}
  LockGuard(LockGuard&& other) noexcept
      : core_(other.TakeCore()), value_(other.value_) {}
  // Gives back what this one held, if it did.
  LockGuard& operator=(LockGuard&& other) noexcept {
    LockGuard taken(std::move(other));
    std::swap(core_, taken.core_);
    std::swap(value_, taken.value_);
    return *this;
  }
  ~LockGuard() {
    if (core_ != nullptr) core_->Give(kHeld);
  }

  // False once moved from.
  explicit operator bool() const { return core_ != nullptr; }

  // Requires: not moved from.
  std::add_lvalue_reference_t<T> operator*() const
    requires(!std::is_void_v<T>)
  {
    return *value_;
  }
  T* operator->() const
    requires(!std::is_void_v<T>)
  {
    return value_;
  }

 protected:
  const Holder& core() const { return core_; }
  T* value() const { return value_; }
  // Leaves this as if moved from; what it held is the caller's.
  Holder TakeCore() { return std::exchange(core_, nullptr); }

  // A guard of what `fn` makes of the value: a part of it.
  template <template <class, class> class Mapped, class Fn>
  static auto MapTo(LockGuard guard, Fn& fn) {
    using Part = std::invoke_result_t<Fn&, std::add_lvalue_reference_t<T>>;
    static_assert(std::is_lvalue_reference_v<Part>,
                  "Map() wants a function that returns a reference to a part "
                  "of the value");
    Part part = std::invoke(fn, *guard);
    return Mapped<std::remove_reference_t<Part>, Holder>(guard.TakeCore(),
                                                         std::addressof(part));
  }

 private:
  Holder core_;  // null once moved from
  T* value_;
};

// The future of a guard.
template <class Guard>
class [[nodiscard]] LockFuture {
 public:
  using Output = Guard;

  LockFuture(typename Guard::Holder core, typename Guard::Value* value)
      : core_(std::move(core)), value_(value), waiter_(Guard::kHeld) {}
  LockFuture(LockFuture&&) = default;
  LockFuture& operator=(LockFuture&&) = delete;
  ~LockFuture() {
    if (waiter_.polled) core_->Drop(waiter_);
  }

  Polled<Guard> Poll(Context& cx) {
    if (core_->Poll(waiter_, cx) == ExclusionCore::Got::kNotYet) {
      return kPending;
    }
    return Guard(std::move(core_), value_);
  }

 private:
  typename Guard::Holder core_;
  typename Guard::Value* const value_;
  ExclusionCore::Waiter waiter_;
};

// A guard if the lock can be had without waiting.
template <class Guard>
std::optional<Guard> TryLockFor(typename Guard::Holder core,
                                typename Guard::Value* value) {
  if (!core->TryTake(Guard::kHeld)) return std::nullopt;
  return Guard(std::move(core), value);
}

// A guard, for which the calling thread waits; `caller` names the operation.
template <class Guard>
Guard BlockingLockFor(std::string_view caller, typename Guard::Holder core,
                      typename Guard::Value* value) {
  if (core->TryTake(Guard::kHeld)) return Guard(std::move(core), value);
  return task_internal::BlockFor(caller,
                                 LockFuture<Guard>(std::move(core), value));
}

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_LOCK_GUARD_H_
