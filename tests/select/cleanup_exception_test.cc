// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// What Shielded, WithCleanup and Finally do with what throws.

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/shielded.h"
#include "weft/select/with_cleanup.h"
#include "weft/task/environment.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

using testing::ElementsAre;

Task<> Throw(std::string what) {
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

class CleanupExceptionTest : public testing::Test {
 protected:
  CleanupExceptionTest() {
    environment_.unhandled_exception = &handler_;
    scope_.emplace(environment_);
  }
  auto Cleanup() {
    // weft-lint: allow(R4): WithCleanup() keeps it.
    return [this]() -> Task<> {
      ++cleanups_;
      co_return;
    };
  }

  Handler handler_;
  Environment environment_;
  std::optional<EnvironmentScope> scope_;
  ManualExecutor executor_;
  int cleanups_ = 0;
};

TEST_F(CleanupExceptionTest, ShieldedThrowsWhatItsFutureThrew) {
  auto shielded = Shielded(Throw("boom"));

  EXPECT_EQ(WhatItThrows([&] { executor_.Run(shielded); }), "boom");
}

TEST_F(CleanupExceptionTest, WhatADroppedShieldedThrowsIsReported) {
  {
    auto shielded = Shielded(Throw("boom"));
    EXPECT_EQ(executor_.Run(PollOnce(shielded)), std::nullopt);
  }

  executor_.RunUntilIdle();

  EXPECT_THAT(handler_.what_, ElementsAre("boom"));
}

TEST_F(CleanupExceptionTest, AnExceptionIsAnEnd) {
  EXPECT_EQ(WhatItThrows([&] {
              auto future = WithCleanup(Throw("boom"), Cleanup());
              executor_.Run(future);
            }),
            "boom");
  executor_.RunUntilIdle();

  EXPECT_EQ(cleanups_, 0);
}

TEST_F(CleanupExceptionTest, FinallyThrowsAfterTheCleanup) {
  EXPECT_EQ(WhatItThrows([&] {
              auto future = Finally(Throw("boom"), Cleanup());
              executor_.Run(future);
            }),
            "boom");

  EXPECT_EQ(cleanups_, 1);
}

TEST_F(CleanupExceptionTest, FinallyThrowsWhatTheCleanupThrew) {
  EXPECT_EQ(WhatItThrows([&] {
              auto future = Finally(Ready(), [] { return Throw("cleanup"); });
              executor_.Run(future);
            }),
            "cleanup");
  EXPECT_EQ(WhatItThrows([&] {
              auto future =
                  Finally(Throw("boom"), [] { return Throw("cleanup"); });
              executor_.Run(future);
            }),
            "boom");
}

TEST_F(CleanupExceptionTest, WhatACleanupOfADroppedOneThrowsIsReported) {
  {
    auto future = WithCleanup(Pending(), [] { return Throw("cleanup"); });
    EXPECT_EQ(executor_.Run(PollOnce(future)), std::nullopt);
  }

  executor_.RunUntilIdle();

  EXPECT_THAT(handler_.what_, ElementsAre("cleanup"));
}

}  // namespace
}  // namespace weft
