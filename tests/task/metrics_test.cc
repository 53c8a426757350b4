// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/metrics.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace weft {
namespace {

HistogramSnapshot Make(uint64_t a, uint64_t b, uint64_t c) {
  return {.buckets = {{1, a}, {2, b}, {HUGE_VAL, c}}, .sum = 4};
}

TEST(HistogramSnapshotTest, OfNothingHasNoValues) {
  const HistogramSnapshot none;

  EXPECT_EQ(none.Count(), 0u);
  EXPECT_EQ(none.Mean(), 0);
  EXPECT_EQ(none.Quantile(0.5), 0);
}

TEST(HistogramSnapshotTest, AQuantileIsTheBoundOfItsBucket) {
  const HistogramSnapshot histogram = Make(5, 4, 1);

  EXPECT_EQ(histogram.Count(), 10u);
  EXPECT_EQ(histogram.Quantile(0), 1);
  EXPECT_EQ(histogram.Quantile(0.5), 1);
  HistogramSnapshot seven;
  seven.buckets = {{1, 7}, {2, 93}};
  EXPECT_EQ(seven.Quantile(0.07), 1);
  EXPECT_EQ(histogram.Quantile(0.51), 2);
  EXPECT_EQ(histogram.Quantile(0.9), 2);
  EXPECT_TRUE(std::isinf(histogram.Quantile(1)));
  EXPECT_EQ(Make(0, 3, 0).Quantile(0), 2);
}

TEST(HistogramSnapshotTest, TheMeanIsThatOfTheValuesAndNotOfTheBounds) {
  EXPECT_EQ(Make(5, 2, 1).Mean(), 0.5);
}

TEST(HistogramSnapshotTest, SumsAddBucketsAndValues) {
  HistogramSnapshot sum;

  sum += Make(1, 2, 3);
  sum += HistogramSnapshot();
  sum += Make(10, 20, 30);

  EXPECT_EQ(sum.buckets[0].count, 11u);
  EXPECT_EQ(sum.buckets[1].count, 22u);
  EXPECT_EQ(sum.buckets[2].count, 33u);
  EXPECT_EQ(sum.sum, 8);
}

TEST(HistogramSnapshotTest, ADifferenceIsWhatCameSince) {
  HistogramSnapshot since = Make(11, 2, 3);

  since -= HistogramSnapshot();
  EXPECT_EQ(since.Count(), 16u);
  since -= Make(1, 2, 0);

  EXPECT_EQ(since.buckets[0].count, 10u);
  EXPECT_EQ(since.buckets[1].count, 0u);
  EXPECT_EQ(since.buckets[2].count, 3u);
  EXPECT_EQ(since.sum, 0);
}

TEST(HistogramSnapshotTest, CoarserBucketsHoldTheSameValues) {
  const HistogramSnapshot coarse = Make(1, 2, 3).Coarsened(2);

  ASSERT_EQ(coarse.buckets.size(), 2u);
  EXPECT_EQ(coarse.buckets[0].upper, 1);
  EXPECT_EQ(coarse.buckets[0].count, 1u);
  EXPECT_TRUE(std::isinf(coarse.buckets[1].upper));
  EXPECT_EQ(coarse.buckets[1].count, 5u);
  EXPECT_EQ(coarse.sum, 4);
  EXPECT_EQ(Make(1, 2, 3).Coarsened(3).buckets.size(), 2u);
}

TEST(HistogramSnapshotDeathTest, DifferentBoundsDoNotAdd) {
  HistogramSnapshot sum = Make(1, 2, 3);

  EXPECT_DEATH(sum += sum.Coarsened(2), "different bounds");
}

TEST(HistogramSnapshotDeathTest, DifferentBoundsHaveNoDifference) {
  HistogramSnapshot sum = Make(1, 2, 3);

  EXPECT_DEATH(sum -= sum.Coarsened(2), "different bounds");
  EXPECT_DEATH(HistogramSnapshot() -= sum, "different bounds");
}

// Keeps the last sample.
class LastSample final : public MetricsWriter {
 public:
  void Write(const MetricSample& sample) override {
    kind = sample.kind;
    name = std::string(sample.name);
    help = std::string(sample.help);
    labels = sample.labels;
    value = sample.value;
    count = sample.histogram != nullptr ? sample.histogram->Count() : 0;
  }

  MetricSample::Kind kind = MetricSample::Kind::kGauge;
  std::string name, help;
  MetricLabels labels;
  double value = 0;
  uint64_t count = 0;
};

TEST(MetricsWriterTest, ACounterIsWritten) {
  LastSample last;

  last.Counter("a_total", "A.", 3, {{"k", "v"}});

  EXPECT_EQ(last.kind, MetricSample::Kind::kCounter);
  EXPECT_EQ(last.name, "a_total");
  EXPECT_EQ(last.help, "A.");
  EXPECT_EQ(last.labels, (MetricLabels{{"k", "v"}}));
  EXPECT_EQ(last.value, 3);
}

TEST(MetricsWriterTest, AGaugeIsWrittenWithoutLabels) {
  LastSample last;

  last.Gauge("b", "B.", -1);

  EXPECT_EQ(last.kind, MetricSample::Kind::kGauge);
  EXPECT_TRUE(last.labels.empty());
  EXPECT_EQ(last.value, -1);
}

TEST(MetricsWriterTest, AHistogramIsWritten) {
  LastSample last;

  last.Histogram("c_seconds", "C.", Make(1, 2, 3));

  EXPECT_EQ(last.kind, MetricSample::Kind::kHistogram);
  EXPECT_EQ(last.count, 6u);
}

}  // namespace
}  // namespace weft
