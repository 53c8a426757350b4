// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of tasks that throw, and hooks that throw.

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_executor.h"
#include "weft/task/environment.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/task_cell.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

using testing::ElementsAre;

Task<> YieldThenThrow() {
  co_await YieldNow();
  throw std::runtime_error("lost");
}

class Swallow final : public UnhandledExceptionHandler {
 public:
  void OnUnhandledException(std::exception_ptr) override { ++swallowed; }
  int swallowed = 0;
};

template <class AnyExecutor>
class ExecutorHooksExceptionTest : public testing::Test {
 protected:
  ExecutorHooksExceptionTest() {
    const auto note = [this](const char* what) {
      return [this, what](const HookedTask&) { lines_.emplace_back(what); };
    };
    executor_.SetHooks({.on_spawn = note("spawn"),
                        .before_poll = note("before"),
                        .after_poll = note("after"),
                        .on_end = [this](const HookedTask&, TaskEnd end) {
                          lines_.emplace_back(
                              end == TaskEnd::kThrew ? "threw" : "not thrown");
                        }});
  }

  std::vector<std::string> lines_;
  AnyExecutor executor_;
};

using Executors = testing::Types<Executor, LocalExecutor>;
TYPED_TEST_SUITE(ExecutorHooksExceptionTest, Executors);

TYPED_TEST(ExecutorHooksExceptionTest, ATaskThatThrowsIsToldOfToItsEnd) {
  auto handle = this->executor_.Spawn(YieldThenThrow());
  EXPECT_THROW(this->executor_.Run(std::move(handle)), std::runtime_error);
  EXPECT_THAT(this->lines_, ElementsAre("spawn", "before", "after", "before",
                                        "after", "threw"));
}

TYPED_TEST(ExecutorHooksExceptionTest, ADetachedOneLikewise) {
  Swallow swallow;
  Environment environment = Environment::Current();
  environment.unhandled_exception = &swallow;
  const EnvironmentScope scope(environment);
  this->executor_.Spawn(YieldThenThrow()).Detach();
  while (this->executor_.TryTick()) {
  }
  EXPECT_EQ(swallow.swallowed, 1);
  EXPECT_EQ(this->lines_.back(), "threw");
}

TEST(ExecutorHooksDeathTest, AHookThatThrowsEndsTheProgram) {
  const auto throw_from = [](auto set) {
    Executor executor;
    ExecutorHooks hooks;
    set(hooks);
    executor.SetHooks(std::move(hooks));
    executor.Run(executor.Spawn(Ready(1)));
  };
  const auto fail = [](const HookedTask&) { throw std::runtime_error("bad"); };
  EXPECT_DEATH(throw_from([&](ExecutorHooks& h) { h.on_spawn = fail; }), "");
  EXPECT_DEATH(throw_from([&](ExecutorHooks& h) { h.before_poll = fail; }), "");
  EXPECT_DEATH(throw_from([&](ExecutorHooks& h) { h.after_poll = fail; }), "");
  EXPECT_DEATH(throw_from([&](ExecutorHooks& h) {
                 h.on_end = [fail](const HookedTask& t, TaskEnd) { fail(t); };
               }),
               "");
}

}  // namespace
}  // namespace weft
