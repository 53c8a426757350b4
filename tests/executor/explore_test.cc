// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Planted faults of the kinds that only some interleavings show, each found.
#include "weft/executor/explore.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/task/abort_handle.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

using testing::HasSubstr;
using Scenario = absl::FunctionRef<absl::Status(DeterministicExecutor&)>;

constexpr uint64_t kSeeds = 10'000;

// ---- A lost wakeup ----

// Looks at the flag, then, in another poll, leaves its waker; what was set in
// between is not seen any more.
struct Mailbox {
  bool full = false;
  std::optional<Waker> reader;

  Task<> Read(bool looks_again) {
    if (full) co_return;
    co_await YieldNow();
    bool left = false;
    co_await PollFn([&](Context& cx) -> Polled<void> {
      if (left || (looks_again && full)) return Unit();
      left = true;
      reader = cx.waker();
      return kPending;
    });
  }
  void Fill() {
    full = true;
    if (reader.has_value()) std::exchange(reader, std::nullopt)->WakeByRef();
  }
};

absl::Status LoseAWakeup(DeterministicExecutor& executor, bool mended) {
  Mailbox mailbox;
  return executor.Run([](Mailbox& mailbox, bool mended) -> Task<> {
    JoinHandle<> writer = SpawnBorrowing([&mailbox]() -> Task<> {
      for (int i = 0; i < 5; ++i) co_await YieldNow();
      mailbox.Fill();
    });
    co_await mailbox.Read(mended);
    co_await writer;
  }(mailbox, mended));
}

TEST(ExploreTest, FindsALostWakeup) {
  const auto failure = Explore(kSeeds, [](DeterministicExecutor& executor) {
    return LoseAWakeup(executor, /*mended=*/false);
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition(failure->status));
  EXPECT_THAT(failure->trace, HasSubstr("task 1"));
}

TEST(ExploreTest, FindsNothingWhereItIsMended) {
  EXPECT_EQ(Explore(kSeeds,
                    [](DeterministicExecutor& executor) {
                      return LoseAWakeup(executor, /*mended=*/true);
                    }),
            std::nullopt);
}

// ---- A wrong order ----

Task<> Deposit(int& account) {
  const int balance = account;
  co_await YieldNow();
  account = balance + 1;
}

absl::Status LoseADeposit(DeterministicExecutor& executor) {
  int account = 0;
  absl::Status status = executor.Run([](int& account) -> Task<> {
    JoinHandle<> first = SpawnBorrowing(Deposit(account));
    for (int i = 0; i < 4; ++i) co_await YieldNow();
    JoinHandle<> second = SpawnBorrowing(Deposit(account));
    co_await first;
    co_await second;
  }(account));
  if (!status.ok()) return status;
  return account == 2 ? absl::OkStatus() : absl::DataLossError("a deposit");
}

TEST(ExploreTest, FindsAWrongOrder) {
  const auto failure = Explore(kSeeds, LoseADeposit);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->status, absl::DataLossError("a deposit"));
}

// ---- A missed cancellation ----

// Gives the permit back at its end, but not where it is cancelled before.
absl::Status LoseAPermit(DeterministicExecutor& executor) {
  int permits = 1;
  absl::Status status = executor.Run([](int& permits) -> Task<> {
    JoinHandle<> worker = SpawnBorrowing([&permits]() -> Task<> {
      for (int i = 0; i < 3; ++i) co_await YieldNow();
      --permits;
      co_await YieldNow();
      ++permits;
      for (int i = 0; i < 3; ++i) co_await YieldNow();
    });
    for (int i = 0; i < 4; ++i) co_await YieldNow();
    co_await std::move(worker).Cancel();
  }(permits));
  if (!status.ok()) return status;
  return permits == 1 ? absl::OkStatus() : absl::DataLossError("a permit");
}

TEST(ExploreTest, FindsAMissedCancellation) {
  const auto failure = Explore(kSeeds, LoseAPermit);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->status, absl::DataLossError("a permit"));
}

// ---- What is reported ----

std::string Replay(uint64_t seed, Scenario scenario) {
  DeterministicExecutor executor({.seed = seed});
  EXPECT_FALSE(scenario(executor).ok());
  return executor.TraceText();
}

TEST(ExploreTest, TheSeedReplaysToTheByte) {
  for (const Scenario scenario :
       {Scenario(LoseADeposit), Scenario(LoseAPermit)}) {
    const auto failure = Explore(kSeeds, scenario);
    ASSERT_TRUE(failure.has_value());
    const std::string trace = Replay(failure->seed, scenario);
    EXPECT_NE(trace, "");
    EXPECT_EQ(trace, Replay(failure->seed, scenario));
  }
}

size_t CountOthers(const std::vector<uint32_t>& choices) {
  size_t others = 0;
  for (const uint32_t choice : choices) others += choice != 0;
  return others;
}

TEST(ExploreTest, TheSmallRunFailsAlikeWithFewChoices) {
  const auto failure = Explore(kSeeds, LoseADeposit);
  ASSERT_TRUE(failure.has_value());
  DeterministicExecutor first({.seed = failure->seed});
  EXPECT_FALSE(LoseADeposit(first).ok());
  DeterministicExecutor small(
      {.seed = failure->seed, .choices = failure->choices});
  EXPECT_EQ(LoseADeposit(small), failure->status);
  EXPECT_EQ(small.TraceText(), failure->trace);
  EXPECT_LT(CountOthers(failure->choices), CountOthers(first.choices()));
}

TEST(ExploreTest, AScenarioThatDoesNotRepeatIsFoundOut) {
  int runs = 0;
  const auto failure = Explore(10, [&](DeterministicExecutor& executor) {
    const int yields = ++runs;  // from outside
    static_cast<void>(executor.Run([](int yields) -> Task<> {
      for (int i = 0; i < yields; ++i) co_await YieldNow();
    }(yields)));
    return absl::DataLossError("as always");
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(absl::IsInternal(failure->status));
  EXPECT_THAT(failure->status.message(), HasSubstr("the same seed"));
  EXPECT_THAT(failure->status.message(), HasSubstr("as always"));
}

// It fails twice, and not when its small run is looked at.
TEST(ExploreTest, ASmallRunThatDoesNotFailIsFoundOut) {
  int runs = 0;
  const auto failure = Explore(1, [&](DeterministicExecutor&) {
    return ++runs <= 2 ? absl::DataLossError("at first") : absl::OkStatus();
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(absl::IsInternal(failure->status));
  EXPECT_THAT(failure->status.message(), HasSubstr("the same seed"));
}

// Ids of tasks, which a status may contain, go on from run to run.
TEST(ExploreTest, TheTextOfAStatusMayNameATask) {
  const auto failure = Explore(1, [](DeterministicExecutor& executor) {
    JoinHandle<> task = executor.Spawn(YieldNow());
    task.MakeAbortHandle().Abort();
    absl::Status outcome;
    auto await = [&]() -> Task<> {
      outcome = co_await std::move(task).Outcome();
    };
    static_cast<void>(executor.Run(Invoke(await)));
    return outcome;
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(absl::IsCancelled(failure->status)) << failure->status;
}

// Which of two faults comes first depends on the order; the small run has that one
// which the seed has shown.
TEST(ExploreTest, ShrinkingKeepsToTheFault) {
  const auto two_faults = [](DeterministicExecutor& executor) {
    std::vector<std::string> order;
    JoinHandle<> first = executor.SpawnBorrowing([&]() -> Task<> {
      for (int i = 0; i < 3; ++i) co_await YieldNow();
      order.push_back("first");
    });
    JoinHandle<> second = executor.SpawnBorrowing([&]() -> Task<> {
      co_await YieldNow();
      order.push_back("second");
    });
    static_cast<void>(executor.RunUntilIdle());
    return absl::InternalError(order.at(0) + " was too early");
  };
  for (uint64_t seed = 1; seed < 20; ++seed) {
    DeterministicExecutor executor({.seed = seed});
    const absl::Status status = two_faults(executor);
    const auto failure = Explore(1, two_faults, {.first_seed = seed});
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->status, status);
  }
}

TEST(ExploreTest, TheEnvironmentNamesOneSeed) {
  ASSERT_EQ(setenv("WEFT_SEED", "77", 1), 0);
  std::vector<uint64_t> drawn;
  EXPECT_EQ(Explore(kSeeds,
                    [&](DeterministicExecutor& executor) {
                      drawn.push_back(executor.random().Next());
                      return absl::OkStatus();
                    }),
            std::nullopt);
  ASSERT_EQ(unsetenv("WEFT_SEED"), 0);
  DeterministicExecutor executor({.seed = 77});
  EXPECT_EQ(drawn, std::vector<uint64_t>{executor.random().Next()});
}

TEST(ExploreDeathTest, ASeedThatIsNoNumberIsRefused) {
  ASSERT_EQ(setenv("WEFT_SEED", "seven", 1), 0);
  EXPECT_DEATH(static_cast<void>(Explore(
                   1, [](DeterministicExecutor&) { return absl::OkStatus(); })),
               "WEFT_SEED must be a seed");
  ASSERT_EQ(unsetenv("WEFT_SEED"), 0);
}

TEST(ExploreTest, WhatTheScenarioMakesBelongsToItsExecutor) {
  EXPECT_EQ(Explore(10,
                    [](DeterministicExecutor& executor) {
                      const Instant start = executor.clock().Now();
                      weft::Spawn(YieldNow()).Detach();
                      EXPECT_EQ(executor.live(), 1u);
                      absl::Status status =
                          executor.Run(timer::After(absl::Hours(1)));
                      EXPECT_EQ(executor.clock().Now() - start, absl::Hours(1));
                      return status;
                    }),
            std::nullopt);
}

// The tasks of a run that has failed see what they refer to until they are gone.
TEST(ExploreTest, AFailingRunDestroysItsTasksBeforeTheScenarioEnds) {
  struct Guard {
    explicit Guard(bool& held) : held(held) { held = true; }
    ~Guard() { held = false; }
    bool& held;
  };
  const auto failure = Explore(1, [](DeterministicExecutor& executor) {
    bool held = false;
    JoinHandle<> handle = executor.SpawnBorrowing([&held]() -> Task<> {
      const Guard guard(held);
      co_await timer::Never();
    });
    absl::Status status = executor.Run(handle);
    EXPECT_FALSE(held);
    EXPECT_EQ(executor.live(), 0u);
    return status;
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition(failure->status));
}

Task<> YieldForEver() {
  for (;;) co_await YieldNow();
}

TEST(ExploreTest, TasksThatNeverRestAreReported) {
  const auto failure = Explore(1,
                               [](DeterministicExecutor& executor) {
                                 executor.Spawn(YieldForEver()).Detach();
                                 executor.Spawn(YieldForEver()).Detach();
                                 return executor.RunUntilIdle();
                               },
                               {.max_steps = 100'000});
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(failure->status));
  std::ostringstream report;
  report << *failure;
  EXPECT_LT(report.str().size(), 25'000u);
}

TEST(ExploreTest, EachSeedIsTriedOnce) {
  size_t runs = 0;
  EXPECT_EQ(Explore(100,
                    [&](DeterministicExecutor&) {
                      ++runs;
                      return absl::OkStatus();
                    }),
            std::nullopt);
  EXPECT_EQ(runs, 100u);
}

#if defined(__cpp_exceptions)
TEST(ExploreTest, WhatTheScenarioThrowsIsAFailure) {
  const auto failure = Explore(1, [](DeterministicExecutor&) -> absl::Status {
    throw std::runtime_error("broken");
  });
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->status,
            absl::InternalError("the scenario has thrown: broken"));
}
#endif

}  // namespace
}  // namespace weft
