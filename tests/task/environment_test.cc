// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/environment.h"

#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"
#include "weft/task/clock.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/manual_executor.h"
#include "weft/task/offload.h"
#include "weft/task/parker.h"
#include "weft/task/random.h"

namespace weft {
namespace {

class StoppedClock final : public Clock {
 public:
  Instant Now() const override { return Instant::FromNanoseconds(7); }
};

class DroppingOffload final : public Offload {
 public:
  void Submit(Runnable<OffloadJob>) override {}
};

TEST(EnvironmentTest, NothingIsCurrentByDefault) {
  const Environment& current = Environment::Current();

  EXPECT_EQ(current.driver, nullptr);
  EXPECT_EQ(current.clock, nullptr);
  EXPECT_EQ(current.random, nullptr);
  EXPECT_EQ(current.spawner, nullptr);
  EXPECT_EQ(current.offload, nullptr);
  EXPECT_EQ(current.timers, nullptr);
  EXPECT_EQ(current.reactor, nullptr);
  EXPECT_EQ(current.unhandled_exception, nullptr);
}

TEST(EnvironmentTest, DefaultsStandIn) {
  EXPECT_EQ(&Environment::CurrentDriver(), &Driver::OfThread());
  EXPECT_EQ(&Environment::CurrentClock(), &Clock::Real());
  EXPECT_EQ(&Environment::CurrentRandom(), &Random::OfThread());
}

TEST(EnvironmentTest, AScopeMakesItCurrent) {
  Parker parker;
  StoppedClock clock;
  Random random(1);
  ManualExecutor executor;
  DroppingOffload offload;
  Environment environment;
  environment.driver = &parker;
  environment.clock = &clock;
  environment.random = &random;
  environment.spawner = &executor.spawner();
  environment.offload = &offload;

  const EnvironmentScope scope(environment);

  EXPECT_EQ(&Environment::Current(), &environment);
  EXPECT_EQ(&Environment::CurrentDriver(), &parker);
  EXPECT_EQ(&Environment::CurrentClock(), &clock);
  EXPECT_EQ(&Environment::CurrentRandom(), &random);
  EXPECT_EQ(&Environment::CurrentSpawner(), &executor.spawner());
  EXPECT_EQ(&Environment::CurrentOffload(), &offload);
}

TEST(EnvironmentTest, ScopesNest) {
  const Environment* const before = &Environment::Current();
  const Environment outer;
  {
    const EnvironmentScope outer_scope(outer);
    const Environment inner;
    {
      const EnvironmentScope inner_scope(inner);
      EXPECT_EQ(&Environment::Current(), &inner);
    }
    EXPECT_EQ(&Environment::Current(), &outer);
  }
  EXPECT_EQ(&Environment::Current(), before);
}

TEST(EnvironmentTest, BelongsToItsThread) {
  const Environment mine;
  const EnvironmentScope scope(mine);
  const Environment* theirs = nullptr;

  std::thread([&] { theirs = &Environment::Current(); }).join();

  EXPECT_NE(theirs, &mine);
}

TEST(EnvironmentDeathTest, WithoutASpawnerTheRemedyIsNamed) {
  EXPECT_DEATH(Environment::CurrentSpawner(), "//runtime:default");
  EXPECT_DEATH(Environment::CurrentOffload(), "//runtime:default");
}

// In a process of its own: a registration cannot be taken back.
TEST(EnvironmentDeathTest, ADefaultCanBeRegistered) {
  auto use_default = [] {
    RegisterDefaultEnvironment([]() -> const Environment& {
      static ManualExecutor executor;
      static DroppingOffload offload;
      static Environment environment;
      environment.spawner = &executor.spawner();
      environment.offload = &offload;
      return environment;
    });
    Spawner& spawner = Environment::CurrentSpawner();
    const bool same = &spawner == &Environment::CurrentSpawner();
    ManualExecutor other;
    Environment environment;
    environment.spawner = &other.spawner();
    const EnvironmentScope scope(environment);
    const bool current_first = &Environment::CurrentSpawner() != &spawner;
    Environment::CurrentOffload();
    _exit(same && current_first ? 0 : 1);
  };
  EXPECT_EXIT(use_default(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft
