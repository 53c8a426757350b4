// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the executor's tests share: a gate to wait at, threads that run an
// executor, and how long to go on.
//
// Thread safety: Gate any thread; Runners one thread.
// Lifetime: a Gate outlives its waits, an executor its Runners.
#ifndef WEFT_TESTS_EXECUTOR_RUNNERS_H_
#define WEFT_TESTS_EXECUTOR_RUNNERS_H_

#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft::executor_testing {

// Opens once, for everybody who waits.
class Gate {
 public:
  class WaitFuture {
   public:
    using Output = void;
    static constexpr bool kMovableAfterPoll = true;

    explicit WaitFuture(Gate& gate) : gate_(gate) {}

    Polled<void> Poll(Context& cx) {
      Waker waker = cx.waker();
      const std::lock_guard lock(gate_.mutex_);
      if (gate_.open_) return Unit();
      gate_.wakers_.push_back(std::move(waker));
      return kPending;
    }

   private:
    Gate& gate_;
  };

  void Open() {
    std::vector<Waker> wakers;
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      wakers = std::exchange(wakers_, {});
    }
    for (Waker& waker : wakers) std::move(waker).Wake();
  }
  bool IsOpen() {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  WaitFuture Wait() { return WaitFuture(*this); }

 private:
  std::mutex mutex_;
  bool open_ = false;
  std::vector<Waker> wakers_;
};

// Threads inside executor.Run() while this exists.
template <class Executor>
class Runners {
 public:
  Runners(Executor& executor, int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, &executor] { executor.Run(stop_.Wait()); });
    }
  }
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;
  ~Runners() {
    stop_.Open();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  Gate stop_;
  std::vector<std::thread> threads_;
};

// `rounds`, or as many as the long form of the tests asks for.
inline int RoundsOrLong(int rounds, int long_rounds) {
  const char* value = std::getenv("WEFT_LONG");
  return value != nullptr && std::string_view(value) == "1" ? long_rounds
                                                            : rounds;
}

// Gives other threads a chance until `done()`.
template <class Done>
void SpinUntil(Done done) {
  while (!done()) std::this_thread::yield();
}

}  // namespace weft::executor_testing

#endif  // WEFT_TESTS_EXECUTOR_RUNNERS_H_
