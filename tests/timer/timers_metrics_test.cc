// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/timers_metrics.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/parker.h"
#include "weft/tests/kit/metric_samples.h"
#include "weft/timer/sleep.h"
#include "weft/timer/timers.h"

namespace weft::timer {
namespace {

// Timers in the current environment, driven by the test.
class TimersMetricsTest : public testing::Test {
 protected:
  TimersMetricsTest() {
    environment_ = Environment::Current();
    environment_.driver = environment_.timers = &timers_;
    scope_.emplace(environment_);
  }

  // A sleep that has been polled.
  std::unique_ptr<Sleep> Started(absl::Duration time) {
    auto sleep = std::make_unique<Sleep>(Instant::Now() + time);
    Context cx(waker_.waker());
    static_cast<void>(sleep->Poll(cx));
    return sleep;
  }

  Parker parker_;
  Timers timers_{parker_};
  const TimersMetrics metrics_{timers_};

 private:
  CountingWaker waker_;
  Environment environment_;
  std::optional<EnvironmentScope> scope_;
};

TEST_F(TimersMetricsTest, AreZeroAtFirst) {
  const std::map<std::string, double> samples = SamplesOf(metrics_);
  EXPECT_EQ(samples.size(), 4u);
  for (const auto& [name, value] : samples) EXPECT_EQ(value, 0) << name;
}

TEST_F(TimersMetricsTest, EachSleepThatWaitsIsFiredOrCancelled) {
  std::unique_ptr<Sleep> late = Started(absl::Hours(1));
  const std::unique_ptr<Sleep> soon = Started(absl::Milliseconds(1));
  const std::unique_ptr<Sleep> due = Started(absl::ZeroDuration());
  std::map<std::string, double> samples = SamplesOf(metrics_);
  EXPECT_EQ(samples["weft_timers_pending"], 2);
  EXPECT_EQ(samples["weft_timers_started_total"], 2);

  while (timers_.stats().fired == 0) timers_.Park(Instant::Infinite());
  samples = SamplesOf(metrics_);
  EXPECT_EQ(samples["weft_timers_pending"], 1);
  EXPECT_EQ(samples["weft_timers_fired_total"], 1);
  EXPECT_EQ(samples["weft_timers_cancelled_total"], 0);

  late.reset();
  samples = SamplesOf(metrics_);
  EXPECT_EQ(samples["weft_timers_pending"], 0);
  EXPECT_EQ(samples["weft_timers_fired_total"], 1);
  EXPECT_EQ(samples["weft_timers_cancelled_total"], 1);
  EXPECT_EQ(samples["weft_timers_started_total"], 2);
}

TEST_F(TimersMetricsTest, ASleepThatIsResetGoesOnWaiting) {
  const std::unique_ptr<Sleep> sleep = Started(absl::Hours(1));

  sleep->Reset(Instant::Now() + absl::Hours(2));
  EXPECT_EQ(timers_.stats().pending, 1u);
  sleep->Reset(Instant::Past());

  EXPECT_EQ(timers_.stats().pending, 0u);
  EXPECT_EQ(timers_.stats().started, 1u);
  EXPECT_EQ(timers_.stats().fired, 1u);
  EXPECT_EQ(timers_.stats().cancelled, 0u);
}

TEST(TimersStatsTest, TimersBeginAtZeroAlsoOnAUsedCore) {
  Parker parker;
  {
    Timers earlier(parker);
    Environment environment = Environment::Current();
    environment.driver = environment.timers = &earlier;
    const EnvironmentScope scope(environment);
    CountingWaker waker;
    Context cx(waker.waker());
    Sleep sleep(Instant::Now() + absl::Hours(1));
    ASSERT_TRUE(sleep.Poll(cx).IsPending());
    EXPECT_EQ(earlier.stats().started, 1u);
  }

  const Timers timers(parker);

  EXPECT_EQ(timers.stats().started, 0u);
  EXPECT_EQ(timers.stats().cancelled, 0u);
}

}  // namespace
}  // namespace weft::timer
