// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Mutex: a value that one task or thread at a time may touch.
//
//   Mutex<Accounts> accounts;
//   ...
//   auto guard = co_await accounts.Lock();  // a task; a thread: BlockingLock()
//   guard->Transfer(from, to, amount);      // unlocked at the end of the block
//
// For what is locked over a co_await. Where the lock is held for a few instructions
// a std::mutex is as good. Mutex<> is a lock alone.
//
// To lock and to unlock is one atomic operation each while nobody waits. Waiters
// are woken in the order of their first polls, but who comes while it is unlocked
// has it at once: that is much faster than to hand it from task to task. Nobody
// starves: one who has waited for half a millisecond, or has been overtaken 16
// times, gets the lock next.
//
// Not re-entrant: a task that locks what it has locked waits for ever.
//
// What happened before it was unlocked happens before the end of the next Lock().
//
// Thread safety: all methods from any thread, but for GetMutable() and IntoInner();
// a guard belongs to one thread at a time. Constant-initialized if T is.
// Lifetime: outlives its waits and its guards; an owned guard keeps it alive.
// Whoever locks it may destroy it once it is unlocked again, while the one who
// unlocked it before is still returning.
// Dropping: a wait that is dropped leaves the queue. If it had been woken or given
// the lock, and never learned of that, the next one is.
#ifndef WEFT_SYNC_MUTEX_H_
#define WEFT_SYNC_MUTEX_H_

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/sync/lock_core.h"
#include "weft/sync/lock_guard.h"
#include "weft/sync/lock_word.h"
#include "weft/task/check.h"
#include "weft/task/polled.h"

namespace weft::sync {

// A guard of a part of what a Mutex protects.
template <class U, class Holder>
class [[nodiscard]] MappedMutexGuard
    : public sync_internal::LockGuard<U, sync_internal::WriteMode, Holder> {
  using Base = sync_internal::LockGuard<U, sync_internal::WriteMode, Holder>;

 public:
  using Base::Base;

  template <class Fn>
  static auto Map(MappedMutexGuard guard, Fn fn) {
    return Base::template MapTo<sync::MappedMutexGuard>(std::move(guard), fn);
  }
};

// Has a Mutex locked, and unlocks it when destroyed. Mutex<T>::Guard.
template <class T, class Holder>
class [[nodiscard]] MutexGuard
    : public sync_internal::LockGuard<T, sync_internal::WriteMode, Holder> {
  using Base = sync_internal::LockGuard<T, sync_internal::WriteMode, Holder>;

 public:
  using Base::Base;

  // The lock goes on with a guard of fn(*guard), a reference to a part of the value.
  //   auto name = Mutex<User>::Guard::Map(std::move(guard), &User::name);
  template <class Fn>
  static auto Map(MutexGuard guard, Fn fn) {
    return Base::template MapTo<MappedMutexGuard>(std::move(guard), fn);
  }

  // Locks the same mutex again, after this has unlocked it. Requires: not moved
  // from.
  sync_internal::LockFuture<MutexGuard> LockAgain() const {
    return sync_internal::LockFuture<MutexGuard>(this->core(), this->value());
  }
};

template <class T = void>
class Mutex {
 public:
  using Guard = MutexGuard<T, sync_internal::BorrowedCore>;
  using OwnedGuard = MutexGuard<T, sync_internal::OwnedCore>;
  using LockFuture = sync_internal::LockFuture<Guard>;
  using LockOwnedFuture = sync_internal::LockFuture<OwnedGuard>;

  constexpr Mutex()
    requires std::is_default_constructible_v<UnitIfVoid<T>>
  = default;
  template <class U = T>
    requires std::is_constructible_v<UnitIfVoid<T>, U&&>
  explicit constexpr Mutex(U&& value) : value_(std::forward<U>(value)) {}
  template <class... Args>
  explicit constexpr Mutex(std::in_place_t, Args&&... args)
      : value_(std::forward<Args>(args)...) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  // Requires: nobody waits or has it locked.
  ~Mutex() { CheckUnlocked(); }

  LockFuture Lock() { return LockFuture(&core_, pointer()); }
  // Nothing if it cannot be had without waiting.
  std::optional<Guard> TryLock() {
    return sync_internal::TryLockFor<Guard>(&core_, pointer());
  }
  Guard BlockingLock() {
    return sync_internal::BlockingLockFor<Guard>("Mutex::BlockingLock()",
                                                 &core_, pointer());
  }

  // The same with guards that keep the mutex alive.
  static LockOwnedFuture LockOwned(std::shared_ptr<Mutex> mutex) {
    T* const value = mutex->pointer();
    return LockOwnedFuture(CoreOf(std::move(mutex)), value);
  }
  static std::optional<OwnedGuard> TryLockOwned(std::shared_ptr<Mutex> mutex) {
    T* const value = mutex->pointer();
    return sync_internal::TryLockFor<OwnedGuard>(CoreOf(std::move(mutex)),
                                                 value);
  }
  static OwnedGuard BlockingLockOwned(std::shared_ptr<Mutex> mutex) {
    T* const value = mutex->pointer();
    return sync_internal::BlockingLockFor<OwnedGuard>(
        "Mutex::BlockingLockOwned()", CoreOf(std::move(mutex)), value);
  }

  // The value without locking. Requires: nobody else uses this mutex now.
  std::add_lvalue_reference_t<T> GetMutable()
    requires(!std::is_void_v<T>)
  {
    CheckUnlocked();
    return value_;
  }
 T IntoInner() &&
     requires(!std::is_void_v<T>) {
       CheckUnlocked();
       return std::move(value_);
     }

     private : static sync_internal::OwnedCore
               CoreOf(std::shared_ptr<Mutex> mutex) {
    sync_internal::ExclusionCore* const core = &mutex->core_;
    return sync_internal::OwnedCore(std::move(mutex), core);
  }

  T* pointer() {
    if constexpr (std::is_void_v<T>) {
      return nullptr;
    } else {
      return std::addressof(value_);
    }
  }
  void CheckUnlocked() const {
    WEFT_CHECK(
        sync_internal::ExclusionRules::Fits(
            core_.Load(), sync_internal::ExclusionRules::kWrite),
        "a Mutex is destroyed or opened while it is locked; let its guards "
        "go first");
  }

  sync_internal::ExclusionCore core_{0, sync_internal::LockOrder::kBarging};
  [[no_unique_address]] UnitIfVoid<T> value_{};
};

template <class T>
explicit Mutex(T) -> Mutex<T>;

}  // namespace weft::sync

#endif  // WEFT_SYNC_MUTEX_H_
