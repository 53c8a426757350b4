// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WEFT_TEST: a GoogleTest test whose body is a coroutine.
//
//   WEFT_TEST(ReaperTest, RemovesIdleConnections) {
//     JoinHandle<> reaper = Spawn(Reap(pool));
//     co_await timer::After(absl::Hours(1));  // takes no time
//     EXPECT_EQ(pool.size(), 0);
//   }
//
// The body runs on a ManualExecutor, which is the current spawner, under a
// FakeClock: when nothing is woken, time goes to the next deadline. Where there
// is no deadline either the test would hang, and it CHECK-fails instead. The
// body is a member function: executor() and clock() are those it runs on.
//
// A coroutine cannot `return`, so EXPECT_ macros work in the body and ASSERT_
// macros do not.
#ifndef WEFT_TESTS_KIT_WEFT_TEST_H_
#define WEFT_TESTS_KIT_WEFT_TEST_H_

#include "gtest/gtest.h"
#include "weft/task/environment.h"
#include "weft/task/manual_executor.h"
#include "weft/task/task.h"
#include "weft/timer/fake_clock.h"

namespace weft {

class WeftTestBody {
 public:
  WeftTestBody();
  WeftTestBody(const WeftTestBody&) = delete;  // the scope holds its address
  WeftTestBody& operator=(const WeftTestBody&) = delete;
  virtual ~WeftTestBody() = default;

  // Runs the body to its end, then destroys the tasks that it left.
  void Run();

 protected:
  virtual Task<> Body() = 0;

  ManualExecutor& executor() { return executor_; }
  timer::FakeClock& clock() { return clock_; }

 private:
  timer::FakeClock clock_;
  Environment environment_;
  ManualExecutor executor_;
};

}  // namespace weft

#define WEFT_TEST(suite, name)                                    \
  class suite##_##name##_Body final : public weft::WeftTestBody { \
    weft::Task<> Body() override;                                 \
  };                                                              \
  TEST(suite, name) { suite##_##name##_Body().Run(); }            \
  weft::Task<> suite##_##name##_Body::Body()

#endif  // WEFT_TESTS_KIT_WEFT_TEST_H_
