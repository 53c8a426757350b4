// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Script: a branch, for tests, that is pending so many times and then ready, or
// throws, and whose polls and lives are counted.
//
//   Script script{.pending = 2, .value = 7};
//   auto future = script.Make();  // ready with 7 at its third poll
//   EXPECT_EQ(script.live, 1);
//
// The future wakes nobody.
//
// Thread safety: one thread at a time.
// Lifetime: outlives its futures.
#ifndef WEFT_TESTS_SELECT_SCRIPT_H_
#define WEFT_TESTS_SELECT_SCRIPT_H_

#include <exception>
#include <utility>

#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {

struct Script {
  static constexpr int kForever = 1'000'000;

  class Future {
   public:
    using Output = int;

    explicit Future(Script* script) : script_(script) { ++script_->live; }
    Future(Future&& other) noexcept
        : script_(std::exchange(other.script_, nullptr)) {}
    Future& operator=(Future&&) = delete;
    ~Future() {
      if (script_ != nullptr) --script_->live;
    }

    Polled<int> Poll(Context&) {
      if (script_->polls++ < script_->pending) return kPending;
      if (script_->exception) std::rethrow_exception(script_->exception);
      return script_->value;
    }

   private:
    Script* script_;
  };

  Future Make() { return Future(this); }

  int pending = 0;
  int value = 0;
  std::exception_ptr exception = nullptr;
  int polls = 0;
  int live = 0;
};

}  // namespace weft

#endif  // WEFT_TESTS_SELECT_SCRIPT_H_
