// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Signal: the simplest leaf, for tests: pending until told, counting polls.
//
//   Signal signal;
//   auto task = [](Signal* signal) -> Task<int> {
//     co_return co_await signal->Wait();
//   };
//   ...
//   signal.Set(7);  // or signal.Fail(exception)
//
// At most one wait at a time keeps its waker; a later poll replaces it.
//
// Thread safety: all methods from any thread.
// Lifetime: must outlive its waits.
#ifndef WEFT_TESTS_KIT_SIGNAL_H_
#define WEFT_TESTS_KIT_SIGNAL_H_

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft {

class Signal {
 public:
  // Ready with the value that was set; throws what Fail() was given. Dropping
  // it forgets its waker.
  class WaitFuture {
   public:
    using Output = int;

    explicit WaitFuture(Signal& signal) : signal_(&signal) {}
    WaitFuture(WaitFuture&& other) noexcept
        : signal_(std::exchange(other.signal_, nullptr)) {}
    WaitFuture& operator=(WaitFuture&&) = delete;
    ~WaitFuture() {
      if (signal_ != nullptr) signal_->Forget();
    }

    Polled<int> Poll(Context& cx) { return signal_->PollWait(cx); }

   private:
    Signal* signal_;
  };

  Signal() = default;
  Signal(const Signal&) = delete;  // its waits hold its address
  Signal& operator=(const Signal&) = delete;

  WaitFuture Wait() { return WaitFuture(*this); }

  // Makes the wait ready and wakes it.
  void Set(int value = 0) {
    Waker waker;
    {
      std::lock_guard lock(mutex_);
      value_ = value;
      waker = std::move(waker_);
    }
    std::move(waker).Wake();
  }
  // Makes the next poll throw and wakes the wait.
  void Fail(std::exception_ptr exception) {
    Waker waker;
    {
      std::lock_guard lock(mutex_);
      exception_ = std::move(exception);
      waker = std::move(waker_);
    }
    std::move(waker).Wake();
  }
  // Wakes the wait for no reason.
  void WakeSpuriously() {
    Waker waker;
    {
      std::lock_guard lock(mutex_);
      waker = waker_;
    }
    std::move(waker).Wake();
  }
  // Pending again.
  void Reset() {
    std::lock_guard lock(mutex_);
    value_.reset();
  }

  // How often any wait was polled.
  int polls() const {
    std::lock_guard lock(mutex_);
    return polls_;
  }
  // True while a wait keeps its waker here.
  bool HasWaiter() const {
    std::lock_guard lock(mutex_);
    return static_cast<bool>(waker_);
  }

 private:
  Polled<int> PollWait(Context& cx) {
    Waker old;
    std::exception_ptr exception;
    {
      std::lock_guard lock(mutex_);
      ++polls_;
      exception = std::exchange(exception_, nullptr);
      if (exception == nullptr) {
        if (value_.has_value()) return *value_;
        if (!waker_.WillWake(cx.waker())) {
          old = std::exchange(waker_, Waker(cx.waker()));
        }
      }
    }
    if (exception != nullptr) std::rethrow_exception(std::move(exception));
    return kPending;
  }
  void Forget() {
    Waker old;  // destroyed after the lock is released
    std::lock_guard lock(mutex_);
    std::swap(old, waker_);
  }

  mutable std::mutex mutex_;
  std::optional<int> value_;
  std::exception_ptr exception_;
  Waker waker_;
  int polls_ = 0;
};

}  // namespace weft

#endif  // WEFT_TESTS_KIT_SIGNAL_H_
