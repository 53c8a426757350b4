// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/poll_times.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/poll_sampler.h"
#include "weft/executor/task_stamp.h"
#include "weft/task/instant.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {
namespace {

TEST(PollTimesTest, OneStampServesBothHistograms) {
  PollTimes times;
  const Instant before = Instant::Now();
  const TaskStamp stamp(before - absl::Milliseconds(1), /*shift=*/3);
  bool ran = false;

  const int64_t took = times.Run(stamp, [&ran] { ran = true; });

  const auto at_most = [&before](double seconds) {
    return seconds <= absl::ToDoubleSeconds(Instant::Now() - before);
  };
  EXPECT_TRUE(ran);
  EXPECT_GE(took, 0);
  EXPECT_EQ(times.poll.Read().Count(), 8u);
  EXPECT_EQ(times.latency.Read().Count(), 8u);
  EXPECT_TRUE(at_most(times.poll.Read().sum / 8));
  EXPECT_GE(times.latency.Read().sum / 8, 0.0009);
  EXPECT_TRUE(at_most(times.latency.Read().sum / 8 - 0.0011));
}

TEST(PollTimesTest, SharedOnesCountTheSame) {
  PollTimes times;

  times.RunShared(TaskStamp(Instant::Now(), 0), [] {});
  times.RunShared(TaskStamp(Instant::Now(), 4), [] {});

  EXPECT_EQ(times.poll.Read().Count(), 17u);
  EXPECT_EQ(times.latency.Read().Count(), 17u);
}

TEST(StampSampledTest, StampsWhatTheSamplerChooses) {
  PollSampler sampler(1);
  SpawnedTask first(nullptr);

  StampSampled(sampler, first);

  EXPECT_TRUE(TaskStamp::TakeOff(first).IsSet());
  // A sampler that knows of short polls only skips most of them.
  for (int i = 0; i < 1000; ++i) sampler.Measured(1);
  int stamped = 0;
  for (int i = 0; i < 1000; ++i) {
    SpawnedTask task(nullptr);
    StampSampled(sampler, task);
    stamped += TaskStamp::TakeOff(task).IsSet();
  }
  EXPECT_GE(stamped, 1);
  EXPECT_LE(stamped, 10);
}

TEST(StampSampledTest, TakesOffAStampThatWasLeft) {
  PollSampler sampler(1);
  while (sampler.Next() != PollSampler::kSkip) sampler.Measured(1);
  SpawnedTask task(nullptr);
  int skipped = 0;
  for (int i = 0; i < 100; ++i) {
    PutStamp(task, 0);
    EXPECT_TRUE(TaskStamp::IsOn(task));
    PollSampler same = sampler;
    StampSampled(sampler, task);
    if (same.Next() != PollSampler::kSkip) continue;
    ++skipped;
    EXPECT_FALSE(TaskStamp::IsOn(task));
  }
  EXPECT_GE(skipped, 1);
}

}  // namespace
}  // namespace weft::executor_internal
