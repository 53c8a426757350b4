// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Hammer: threads that wake tasks all the time, for no reason.
//
//   Hammer hammer(2);
//   executor.Spawn(hammer.Wait()).Detach();
//
// Thread safety: Wait() and polls from any thread.
// Lifetime: must outlive the polls of its waits; their tasks may go first.
#ifndef WEFT_TESTS_EXECUTOR_HAMMER_H_
#define WEFT_TESTS_EXECUTOR_HAMMER_H_

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft::executor_testing {

class Hammer {
 public:
  // Is never ready.
  class WaitFuture {
   public:
    using Output = void;

    explicit WaitFuture(Hammer& hammer) : hammer_(&hammer) {}

    Polled<void> Poll(Context& cx) {
      if (!std::exchange(added_, true)) hammer_->Add(cx.waker());
      return kPending;
    }

   private:
    Hammer* const hammer_;
    bool added_ = false;
  };

  explicit Hammer(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { Run(); });
    }
  }
  Hammer(const Hammer&) = delete;
  Hammer& operator=(const Hammer&) = delete;
  ~Hammer() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

  WaitFuture Wait() { return WaitFuture(*this); }

  // How many wakes there were.
  size_t wakes() const { return wakes_.load(); }
  // How many tasks are being woken.
  size_t targets() {
    const std::lock_guard lock(mutex_);
    return wakers_.size();
  }

 private:
  void Add(const Waker& waker) {
    Waker copy = waker;
    const std::lock_guard lock(mutex_);
    wakers_.push_back(std::move(copy));
  }
  void Run() {
    for (size_t i = 0; !stop_.load(); ++i) {
      Waker waker;
      {
        const std::lock_guard lock(mutex_);
        if (!wakers_.empty()) waker = wakers_[i % wakers_.size()];
      }
      if (!waker) {
        std::this_thread::yield();
        continue;
      }
      std::move(waker).Wake();
      wakes_.fetch_add(1);
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<size_t> wakes_{0};
  std::mutex mutex_;
  std::vector<Waker> wakers_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace weft::executor_testing

#endif  // WEFT_TESTS_EXECUTOR_HAMMER_H_
