// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/reactor_metrics.h"

#include <unistd.h>

#include <map>
#include <optional>
#include <span>
#include <string>

#include "gtest/gtest.h"
#include "weft/io/pipe.h"
#include "weft/io/reactor.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/tests/io/reactor_scope.h"
#include "weft/tests/kit/metric_samples.h"

namespace weft::io {
namespace {

TEST(ReactorMetricsTest, OfANewReactorAreZero) {
  ReactorScope scope;
  const ReactorMetrics metrics(scope.reactor());

  const std::map<std::string, double> samples = SamplesOf(metrics);
  EXPECT_EQ(samples.size(), 8u);
  for (const auto& [name, value] : samples) EXPECT_EQ(value, 0) << name;
}

TEST(ReactorMetricsTest, ShowDescriptorsAndEvents) {
  ReactorScope scope;
  const ReactorMetrics metrics(scope.reactor());
  std::optional<Pipe> pipe = *Pipe::Create();
  CountingWaker waker;
  Context cx(waker.waker());
  char byte = 0;

  ASSERT_TRUE(pipe->reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
  std::map<std::string, double> samples = SamplesOf(metrics);
  EXPECT_EQ(samples["weft_reactor_watched_descriptors"], 1);
  EXPECT_EQ(samples["weft_reactor_registrations_total"], 1);
  EXPECT_EQ(samples["weft_reactor_waits_total"], 0);

  ASSERT_TRUE(pipe->writer.PollWrite(cx, std::span("x", 1)).IsReady());
  scope.Wait();
  samples = SamplesOf(metrics);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(samples["weft_reactor_waits_total"], 1);
  EXPECT_EQ(samples["weft_reactor_events_total"], 1);
  EXPECT_EQ(samples["weft_reactor_delivered_events_total"], 1);
  EXPECT_EQ(samples["weft_reactor_stale_events_total"], 0);

  pipe.reset();
  samples = SamplesOf(metrics);
  EXPECT_EQ(samples["weft_reactor_watched_descriptors"], 0);
  EXPECT_EQ(samples["weft_reactor_registrations_total"], 1);
  EXPECT_EQ(samples["weft_reactor_deregistrations_total"], 1);
}

TEST(ReactorMetricsTest, AReactorBeginsAtZeroAlsoOnAUsedCore) {
  {
    ReactorScope earlier;
    Pipe pipe = *Pipe::Create();
    CountingWaker waker;
    Context cx(waker.waker());
    char byte = 0;
    ASSERT_TRUE(
        pipe.reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
    earlier.Turn();
    EXPECT_EQ(earlier.reactor().stats().registered, 1u);
  }
  ReactorScope scope;
  const ReactorMetrics metrics(scope.reactor());

  for (const auto& [name, value] : SamplesOf(metrics))
    EXPECT_EQ(value, 0) << name;
}

}  // namespace
}  // namespace weft::io
