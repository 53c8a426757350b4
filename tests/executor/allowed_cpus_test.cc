// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/allowed_cpus.h"

#include <sched.h>

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

TEST(AllowedCpusTest, AreThoseOfTheCallingThread) {
  const std::vector<int> all = AllowedCpus();
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  ASSERT_EQ(static_cast<int>(all.size()), CPU_COUNT(&set));
  for (const int cpu : all) EXPECT_TRUE(CPU_ISSET(cpu, &set));

  std::thread([last = all.back()] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_THAT(AllowedCpus(), testing::ElementsAre(last));
  }).join();
}

}  // namespace
}  // namespace weft::executor_internal
