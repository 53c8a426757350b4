// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A driver, or a park hook, that throws: the exception leaves Run(), and the
// executor goes on without that thread.
#include <stdexcept>
#include <thread>

#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/task/block_on.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/parker.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

// Throws when it is about to sleep.
class ThrowingDriver final : public Driver {
 public:
  void Park(Instant deadline) override {
    if (deadline != Instant::Past()) throw std::runtime_error("cannot sleep");
    parker_.Park(deadline);
  }
  Waker Unparker() override { return parker_.Unparker(); }

 private:
  Parker parker_;
};

void RunWhereTheDriverThrows(Executor& executor) {
  ThrowingDriver driver;
  Environment environment = Environment::Current();
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  EXPECT_THROW(executor.Run(Pending()), std::runtime_error);
}

TEST(ExecutorDriverExceptionTest, LeavesNothingBehind) {
  Executor executor;
  RunWhereTheDriverThrows(executor);
  EXPECT_EQ(executor.Stats().runners, 0u);
  EXPECT_EQ(executor.Stats().parked, 0u);
}

TEST(ExecutorDriverExceptionTest, OthersAreStillWoken) {
  Executor executor;
  executor_testing::Gate inside;
  // Takes the first place, so that the sleeper has the second.
  std::thread first([&] {
    executor.Run(inside.Wait());
    RunWhereTheDriverThrows(executor);
  });
  executor_testing::Runners<Executor> sleeper(executor, 1);
  while (executor.Stats().parked != 2) std::this_thread::yield();
  inside.Open();
  first.join();

  JoinHandle<int> task = executor.spawner().Spawn(Ready(1));
  EXPECT_EQ(BlockOn(task), 1);
}

}  // namespace
}  // namespace weft
