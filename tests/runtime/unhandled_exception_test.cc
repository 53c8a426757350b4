// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

#include "gtest/gtest.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/sync/event.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

Task<> Fails() {
  co_await YieldNow();
  throw std::runtime_error("thrown by a task");
}

class UnhandledExceptionFlavourTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(ThreadPerCore, UnhandledExceptionFlavourTest,
                         testing::Bool());

TEST_P(UnhandledExceptionFlavourTest, OfADetachedTaskGoesToTheHandler) {
  std::string what;
  sync::Event handled;
  RuntimeBuilder builder;
  builder.WorkerThreads(2).OnUnhandledException(
      [&](std::exception_ptr exception) {
        try {
          std::rethrow_exception(exception);
        } catch (const std::exception& e) {
          what = e.what();
        }
        handled.Set();
      });
  if (GetParam()) builder.ThreadPerCore();
  auto runtime = builder.Build();
  ASSERT_TRUE(runtime.ok());
  {
    const EnterGuard guard = runtime->Enter();
    Spawn(Fails()).Detach();
  }
  runtime->BlockOn(handled.Wait());
  EXPECT_EQ(what, "thrown by a task");
}

TEST(UnhandledExceptionTest, OfATaskThatIsDetachedAfterItEndedToo) {
  int handled = 0;
  auto runtime =
      RuntimeBuilder()
          .CurrentThread()
          .OnUnhandledException([&](std::exception_ptr) { ++handled; })
          .Build();
  ASSERT_TRUE(runtime.ok());
  JoinHandle<> task = runtime->Spawn(Fails());
  while (!task.IsFinished()) runtime->BlockOn(YieldNow());
  EXPECT_EQ(handled, 0);
  const EnterGuard guard = runtime->Enter();
  std::move(task).Detach();
  EXPECT_EQ(handled, 1);
}

TEST(UnhandledExceptionTest, ByDefaultIsReportedAndTheProcessGoesOn) {
  testing::internal::CaptureStderr();
  {
    auto runtime = RuntimeBuilder().WorkerThreads(1).Build();
    ASSERT_TRUE(runtime.ok());
    runtime->Spawn(Fails()).Detach();
    static_cast<void>(runtime->Shutdown(absl::Seconds(60)));
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("thrown by a task"),
            std::string::npos);
}

TEST(UnhandledExceptionTest, OfABlockOnIsThrownToItsCaller) {
  auto runtime = RuntimeBuilder().WorkerThreads(1).Build();
  ASSERT_TRUE(runtime.ok());
  EXPECT_THROW(runtime->BlockOn(Fails()), std::runtime_error);
}

TEST(UnhandledExceptionTest, OfAnAwaitedTaskIsThrownToWhoAwaits) {
  auto runtime = RuntimeBuilder().WorkerThreads(1).Build();
  ASSERT_TRUE(runtime.ok());
  auto task = runtime->Spawn(Fails());
  EXPECT_THROW(runtime->BlockOn(task), std::runtime_error);
}

}  // namespace
}  // namespace weft
