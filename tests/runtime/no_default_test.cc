// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This binary does not link //runtime:default.
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/runtime/runtime.h"
#include "weft/task/block_on.h"
#include "weft/task/instant.h"
#include "weft/task/offload.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

TEST(NoDefaultRuntimeDeathTest, SpawnNamesTheTarget) {
  EXPECT_DEATH(static_cast<void>(Spawn(Ready(1))),
               "Main\\(\\).*Enter\\(\\).*EnvironmentScope.*//runtime:default");
}

TEST(NoDefaultRuntimeDeathTest, SpawnBlockingNamesTheTarget) {
  EXPECT_DEATH(static_cast<void>(SpawnBlocking([] {})),
               "Main\\(\\).*Enter\\(\\).*EnvironmentScope.*//runtime:default");
}

TEST(NoDefaultRuntimeDeathTest, HandleCurrentNamesTheRemedy) {
  EXPECT_DEATH(static_cast<void>(Handle::Current()), "Enter\\(\\) a runtime");
}

TEST(NoDefaultRuntimeTest, SleepWorks) {
  const Instant start = Instant::Now();
  BlockOn(timer::After(absl::Milliseconds(2)));
  EXPECT_GE(Instant::Now() - start, absl::Milliseconds(2));
}

}  // namespace
}  // namespace weft
