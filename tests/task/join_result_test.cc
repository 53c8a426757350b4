// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/join_result.h"

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

TEST(JoinResultTest, HoldsAValue) {
  JoinResult<int> result(TaskId(3), 7);
  EXPECT_TRUE(result.has_value());
  EXPECT_FALSE(result.IsCancelled());
  EXPECT_EQ(result.exception(), nullptr);
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kOk);
  EXPECT_EQ(result.id(), TaskId(3));
}

TEST(JoinResultTest, WithoutAnythingItIsCancelled) {
  const JoinResult<> result(TaskId(3), std::nullopt);
  EXPECT_FALSE(result.has_value());
  EXPECT_TRUE(result.IsCancelled());
  EXPECT_EQ(result.exception(), nullptr);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

TEST(JoinResultTest, TellsARefusedTaskFromACancelledOne) {
  ManualExecutor executor;
  auto spawned = SpawnOn(Ready(1), [](Runnable<>) {});
  std::move(spawned.runnable).Refuse();

  const JoinResult<int> refused =
      executor.Run(std::move(spawned.handle).Result());

  EXPECT_TRUE(refused.IsCancelled());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
}

// Whatever the output is, each kind of end can be told.
TEST(JoinResultTest, IsWhatAHandleGives) {
  ManualExecutor executor;
  int number = 1;
  auto nothing = []() -> Task<> { co_return; };
  auto owned = []() -> Task<std::unique_ptr<int>> {
    co_return std::make_unique<int>(3);
  };
  auto refer = [&]() -> Task<int&> { co_return number; };
  auto empty = []() -> Task<std::optional<int>> { co_return std::nullopt; };

  EXPECT_TRUE(executor.Run(executor.Spawn(nothing).Result()).has_value());
  EXPECT_EQ(*executor.Run(executor.Spawn(owned).Result()).value(), 3);
  EXPECT_EQ(&executor.Run(executor.Spawn(refer).Result()).value().get(),
            &number);
  EXPECT_EQ(executor.Run(executor.Spawn(empty).Result()).value(), std::nullopt);
}

TEST(JoinResultTest, OfAnAbortedTaskIsCancelledAndSaysWhichItWas) {
  LiveCounter counter;
  ManualExecutor executor;
  auto hold = [](LiveCounter::Object) -> Task<std::exception_ptr> {
    co_await Pending();
    co_return nullptr;
  };
  JoinHandle<std::exception_ptr> handle = executor.Spawn(hold(counter.Make()));
  const TaskId id = handle.id();
  handle.MakeAbortHandle().Abort();

  const JoinResult<std::exception_ptr> result =
      executor.Run(std::move(handle).Result());

  EXPECT_TRUE(result.IsCancelled());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(result.id(), id);
}

TEST(JoinResultTest, DroppingItsWaitCancels) {
  LiveCounter counter;
  ManualExecutor executor;
  auto hold = [](LiveCounter::Object) -> Task<> { co_await Pending(); };
  {
    CountingWaker waker;
    Context cx(waker.waker());
    auto result = executor.Spawn(hold(counter.Make())).Result();
    executor.RunUntilIdle();
    EXPECT_TRUE(result.Poll(cx).IsPending());
    auto moved = std::move(result);
    EXPECT_TRUE(moved.Poll(cx).IsPending());
  }
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 0);
}

TEST(JoinResultDeathTest, TheValueOfACancelledTaskIsRefused) {
  const JoinResult<int> result(TaskId(3), std::nullopt);
  EXPECT_DEATH(static_cast<void>(result.value()), "CANCELLED.*has_value\\(\\)");
}

#if defined(__cpp_exceptions)
TEST(JoinResultDeathTest, AskedForAValueItNamesTheException) {
  const JoinResult<int> result(
      TaskId(3), std::nullopt,
      std::make_exception_ptr(std::runtime_error("no more ink")));
  EXPECT_DEATH(static_cast<void>(result.value()), "threw: no more ink");
}
#endif

}  // namespace
}  // namespace weft
