// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LiveCounter: counts, in tests, how many of the objects it made exist.
//
//   LiveCounter counter;
//   auto task = [](LiveCounter::Object) -> Task<> { co_await Pending(); };
//   { Task<> t = task(counter.Make()); }
//   EXPECT_EQ(counter.live(), 0);
//   EXPECT_EQ(counter.made(), 1);
//
// Thread safety: all methods from any thread.
// Lifetime: must outlive its objects.
#ifndef WEFT_TASK_LIVE_COUNTER_H_
#define WEFT_TASK_LIVE_COUNTER_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace weft {

class LiveCounter {
 public:
  // Counts as alive until destroyed; one that was moved from does not count.
  class Object {
   public:
    Object(const Object& other) : Object(other.counter_) {}
    Object(Object&& other) noexcept
        : counter_(std::exchange(other.counter_, nullptr)) {}
    Object& operator=(Object other) noexcept {
      std::swap(counter_, other.counter_);
      return *this;
    }
    ~Object() {
      if (counter_ != nullptr) ++counter_->gone_;
    }

   private:
    friend LiveCounter;
    explicit Object(LiveCounter* counter) : counter_(counter) {
      if (counter_ != nullptr) ++counter_->made_;
    }

    LiveCounter* counter_;
  };

  LiveCounter() = default;
  LiveCounter(const LiveCounter&) = delete;  // the objects hold its address
  LiveCounter& operator=(const LiveCounter&) = delete;

  Object Make() { return Object(this); }

  // How many were made, copies included; how many of them are destroyed.
  int64_t made() const { return made_; }
  int64_t gone() const { return gone_; }
  int64_t live() const { return made() - gone(); }

 private:
  std::atomic<int64_t> made_{0};
  std::atomic<int64_t> gone_{0};
};

}  // namespace weft

#endif  // WEFT_TASK_LIVE_COUNTER_H_
