// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.
// weft-lint: allow-file(R4): groups keep the lambdas that they are given.

// What a TaskGroup does with a task that throws.

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/task_group.h"
#include "weft/task/environment.h"
#include "weft/task/join_result.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

Task<int> Throw(std::string what) {
  co_await YieldNow();
  throw std::runtime_error(what);
}

template <class Fn>
std::string WhatItThrows(Fn fn) {
  try {
    fn();
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

class Handler final : public UnhandledExceptionHandler {
 public:
  void OnUnhandledException(std::exception_ptr exception) override {
    what_.push_back(WhatItThrows([&] { std::rethrow_exception(exception); }));
  }

  std::vector<std::string> what_;
};

class TaskGroupExceptionTest : public testing::Test {
 protected:
  TaskGroupExceptionTest() {
    environment_.unhandled_exception = &handler_;
    scope_.emplace(environment_);
  }

  TaskGroupOptions Options(OnTaskError on_error = OnTaskError::kCancelRest) {
    return {.on_error = on_error, .spawner = &executor_.spawner()};
  }

  Handler handler_;
  Environment environment_;
  std::optional<EnvironmentScope> scope_;
  ManualExecutor executor_;
  LiveCounter counter_;
};

TEST_F(TaskGroupExceptionTest, AnExceptionCancelsTheRestAndIsTheJoins) {
  TaskGroup<int> group(Options());
  group.Spawn(Ready(1));
  group.Spawn(Throw("boom"));
  group.Spawn([object = counter_.Make()]() -> Task<int> {
    co_await Pending();
    co_return 1;
  });

  EXPECT_EQ(
      WhatItThrows([&] { static_cast<void>(executor_.Run(group.Join())); }),
      "boom");

  EXPECT_TRUE(group.IsCancelled());
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(counter_.live(), 0);
  EXPECT_EQ(
      WhatItThrows([&] { static_cast<void>(executor_.Run(group.Join())); }),
      "boom");
}

TEST_F(TaskGroupExceptionTest, NextThrowsIt) {
  TaskGroup<int> group(Options(OnTaskError::kGoOn));
  group.Spawn(Throw("boom"));

  EXPECT_EQ(
      WhatItThrows([&] { static_cast<void>(executor_.Run(group.Next())); }),
      "boom");

  EXPECT_EQ(executor_.Run(group.Next()), std::nullopt);
}

TEST_F(TaskGroupExceptionTest, ResultsHaveItAndTheKey) {
  TaskGroup<int, std::string> group(Options(OnTaskError::kGoOn));
  group.Spawn("a", Throw("boom"));
  group.Spawn("b", Ready(2));

  auto all = executor_.Run(group.Collect());

  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].key, "a");
  EXPECT_EQ(
      WhatItThrows([&] { std::rethrow_exception(all[0].value.exception()); }),
      "boom");
  EXPECT_EQ(all[1].value.value(), 2);
}

TEST_F(TaskGroupExceptionTest, OneThatNobodyHasTakenIsReported) {
  {
    TaskGroup<int> group(Options(OnTaskError::kGoOn));
    group.Spawn(Throw("boom"));
    executor_.RunUntilIdle();
    EXPECT_THAT(handler_.what_, testing::ElementsAre());
  }

#if defined(NDEBUG)
  EXPECT_THAT(handler_.what_, testing::ElementsAre());
#else
  EXPECT_THAT(handler_.what_, testing::ElementsAre("boom"));
#endif
}

TEST_F(TaskGroupExceptionTest, OfADetachedTaskItGoesToTheHandler) {
  TaskGroup<int> group(Options());
  group.Spawn(Throw("boom"));
  group.DetachAll();

  executor_.RunUntilIdle();

  EXPECT_THAT(handler_.what_, testing::ElementsAre("boom"));
}

TEST_F(TaskGroupExceptionTest, TheExceptionGoesWithTheGroup) {
  struct Error {
    LiveCounter::Object object;
  };
  {
    TaskGroup<> group(Options());
    group.Spawn([this]() -> Task<> {
      co_await YieldNow();
      throw Error{counter_.Make()};
    });
    executor_.RunUntilIdle();
    EXPECT_EQ(counter_.live(), 1);
    auto result = executor_.Run(group.NextResult());
    EXPECT_NE(result->exception(), nullptr);
  }

  EXPECT_EQ(counter_.live(), 0);
}

}  // namespace
}  // namespace weft
