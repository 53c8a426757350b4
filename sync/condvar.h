// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Condvar: to wait until what a Mutex protects has become as one wants it.
//
//   Mutex<std::deque<Job>> jobs;
//   Condvar added;
//   ...
//   auto guard = co_await jobs.Lock();
//   const auto has_job = [](std::deque<Job>& jobs) { return !jobs.empty(); };
//   auto wait = added.WaitUntil(std::move(guard), has_job);
//   guard = co_await wait;  // locked, and there is one
//   ...
//   { auto guard = co_await jobs.Lock(); guard->push_back(job); }
//   added.NotifyOne();      // on any thread, with or without the lock
//
// A wait gives its guard away and gets it back: the mutex is unlocked at its first
// poll, after it has taken its place in the queue, and is locked again when it is
// ready. So a notification by whoever locked the mutex after it is not missed. One
// notification releases one wait, and no wait ends without; but others may lock the
// mutex before the wait does, so either look again or use WaitUntil().
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: outlives its waits, as does the mutex. A released waiter may destroy
// the Condvar at once, while the one who notified it is still returning.
// Dropping: a wait that is dropped leaves the mutex unlocked. A notification by
// NotifyOne() that it was given goes to the next waiter.
#ifndef WEFT_SYNC_CONDVAR_H_
#define WEFT_SYNC_CONDVAR_H_

#include <atomic>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/sync/lock_guard.h"
#include "weft/sync/mutex.h"
#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

template <class Guard>
class CondvarWaitFuture;
template <class Guard, class Predicate>
class CondvarWaitUntilFuture;

class Condvar {
 public:
  constexpr Condvar() = default;
  Condvar(const Condvar&) = delete;
  Condvar& operator=(const Condvar&) = delete;
  // Requires: nobody waits.
  ~Condvar();

  // Releases the first of those who wait now, or all of them. One load if nobody
  // waits.
  void NotifyOne() {
    if (HasWaiters()) NotifyFront();
  }
  void NotifyAll() {
    if (HasWaiters()) NotifyEach();
  }

  // Ready with the guard, of the same mutex, once notified. `Guard` is Guard or
  // OwnedGuard of a Mutex. Requires: the guard was not moved from.
  template <class T, class Holder>
  CondvarWaitFuture<MutexGuard<T, Holder>> Wait(MutexGuard<T, Holder> guard);
  template <class T, class Holder>
  MutexGuard<T, Holder> BlockingWait(MutexGuard<T, Holder> guard);

  // The same until is_satisfied(*guard), or is_satisfied() for a Mutex<>; ready at
  // once if that is so now. It is called with the mutex locked.
  template <class T, class Holder, class Predicate>
  CondvarWaitUntilFuture<MutexGuard<T, Holder>, Predicate> WaitUntil(
      MutexGuard<T, Holder> guard, Predicate is_satisfied);
  template <class T, class Holder, class Predicate>
  MutexGuard<T, Holder> BlockingWaitUntil(MutexGuard<T, Holder> guard,
                                          Predicate is_satisfied);

 private:
  template <class Guard>
  friend class CondvarWaitFuture;

  enum class Notified { kNotYet, kAlone, kWithAll };
  Notified PollWait(sync_internal::WaitNode& node, Context& cx);
  void DropWait(sync_internal::WaitNode& node);

  // Relaxed: a wait that has to be notified unlocked its mutex after it had joined
  // the queue, and the notifier locked that since then or learned of it otherwise.
  bool HasWaiters() const {
    return has_waiters_.load(std::memory_order_relaxed);
  }
  // Relaxed: see HasWaiters(). Requires: `mutex_` is held.
  void SetHasWaiters(bool has_waiters) {
    has_waiters_.store(has_waiters, std::memory_order_relaxed);
  }
  void NotifyFront();
  void NotifyEach();

  // Written under `mutex_`: whether there are `waiters_`.
  std::atomic<bool> has_waiters_{false};

  sync_internal::SmallMutex mutex_;
  sync_internal::WaitQueue waiters_;  // guarded by `mutex_`
};

template <class Guard>
class [[nodiscard]] CondvarWaitFuture {
 public:
  using Output = Guard;

  CondvarWaitFuture(CondvarWaitFuture&&) = default;
  CondvarWaitFuture& operator=(CondvarWaitFuture&&) = delete;
  ~CondvarWaitFuture() {
    if (node_.polled) condvar_.DropWait(node_);
    if (notified_ == Condvar::Notified::kAlone) condvar_.NotifyOne();
  }

  Polled<Guard> Poll(Context& cx) {
    if (notified_ == Condvar::Notified::kNotYet) {
      notified_ = condvar_.PollWait(node_, cx);
      if (notified_ == Condvar::Notified::kNotYet) {
        guard_.reset();
        return kPending;
      }
    }
    auto polled = relock_.Poll(cx);
    // There is nothing to pass on any more.
    if (polled.IsReady()) notified_ = Condvar::Notified::kWithAll;
    return polled;
  }

 private:
  friend Condvar;
  CondvarWaitFuture(Condvar& condvar, Guard guard)
      : condvar_(condvar),
        relock_(guard.LockAgain()),
        guard_(std::move(guard)) {}

  Condvar& condvar_;
  sync_internal::WaitNode node_;
  Condvar::Notified notified_ = Condvar::Notified::kNotYet;
  sync_internal::LockFuture<Guard> relock_;
  std::optional<Guard> guard_;  // until the first poll
};

template <class Guard, class Predicate>
class [[nodiscard]] CondvarWaitUntilFuture {
 public:
  using Output = Guard;

  CondvarWaitUntilFuture(CondvarWaitUntilFuture&&) = default;
  CondvarWaitUntilFuture& operator=(CondvarWaitUntilFuture&&) = delete;

  Polled<Guard> Poll(Context& cx) {
    for (;;) {
      if (guard_.has_value()) {
        if (IsSatisfied()) return *std::exchange(guard_, std::nullopt);
        wait_.emplace(condvar_.Wait(*std::exchange(guard_, std::nullopt)));
      }
      auto polled = wait_->Poll(cx);
      if (polled.IsPending()) return kPending;
      guard_.emplace(*std::move(polled));
      wait_.reset();
    }
  }

 private:
  friend Condvar;
  CondvarWaitUntilFuture(Condvar& condvar, Guard guard, Predicate is_satisfied)
      : condvar_(condvar),
        is_satisfied_(std::move(is_satisfied)),
        guard_(std::move(guard)) {}

  bool IsSatisfied() {
    if constexpr (std::is_void_v<typename Guard::Value>) {
      return std::invoke(is_satisfied_);
    } else {
      return std::invoke(is_satisfied_, **guard_);
    }
  }

  Condvar& condvar_;
  Predicate is_satisfied_;
  // One of these.
  std::optional<Guard> guard_;
  std::optional<CondvarWaitFuture<Guard>> wait_;
};

template <class T, class Holder>
CondvarWaitFuture<MutexGuard<T, Holder>> Condvar::Wait(
    MutexGuard<T, Holder> guard) {
  return CondvarWaitFuture<MutexGuard<T, Holder>>(*this, std::move(guard));
}
template <class T, class Holder>
MutexGuard<T, Holder> Condvar::BlockingWait(MutexGuard<T, Holder> guard) {
  return task_internal::BlockFor("Condvar::BlockingWait()",
                                 Wait(std::move(guard)));
}
template <class T, class Holder, class Predicate>
CondvarWaitUntilFuture<MutexGuard<T, Holder>, Predicate> Condvar::WaitUntil(
    MutexGuard<T, Holder> guard, Predicate is_satisfied) {
  return CondvarWaitUntilFuture<MutexGuard<T, Holder>, Predicate>(
      *this, std::move(guard), std::move(is_satisfied));
}
template <class T, class Holder, class Predicate>
MutexGuard<T, Holder> Condvar::BlockingWaitUntil(MutexGuard<T, Holder> guard,
                                                 Predicate is_satisfied) {
  return task_internal::BlockFor(
      "Condvar::BlockingWaitUntil()",
      WaitUntil(std::move(guard), std::move(is_satisfied)));
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_CONDVAR_H_
