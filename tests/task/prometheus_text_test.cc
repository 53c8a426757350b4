// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/prometheus_text.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/metrics.h"
#include "weft/task/metrics_registry.h"

namespace weft {
namespace {

class Source final : public MetricsSource {
 public:
  explicit Source(std::function<void(MetricsWriter&)> collect)
      : collect_(std::move(collect)) {}
  void Collect(MetricsWriter& writer) const override { collect_(writer); }

 private:
  const std::function<void(MetricsWriter&)> collect_;
};

std::string TextOf(std::function<void(MetricsWriter&)> collect) {
  return PrometheusText(Source(std::move(collect)));
}

TEST(PrometheusTextTest, OfNothingIsEmpty) {
  EXPECT_EQ(PrometheusText(MetricsRegistry()), "");
}

TEST(PrometheusTextTest, SamplesOfAFamilyStandTogether) {
  MetricsRegistry registry;
  const Source a([](MetricsWriter& w) {
    w.Counter("x_total", "X.", 1);
    w.Gauge("y", "Y.", 2);
  });
  const MetricsRegistration one = registry.Add(a, {{"n", "1"}});
  const MetricsRegistration two = registry.Add(a, {{"n", "2"}});

  EXPECT_EQ(PrometheusText(registry),
            "# HELP x_total X.\n"
            "# TYPE x_total counter\n"
            "x_total{n=\"1\"} 1\n"
            "x_total{n=\"2\"} 1\n"
            "# HELP y Y.\n"
            "# TYPE y gauge\n"
            "y{n=\"1\"} 2\n"
            "y{n=\"2\"} 2\n");
}

TEST(PrometheusTextTest, WhatIsNoUtf8IsReplaced) {
  const auto value_of = [](const std::string& value) {
    const std::string text = TextOf(
        [&](MetricsWriter& w) { w.Gauge("y", "Y.", 1, {{"v", value}}); });
    const size_t begin = text.find("v=\"") + 3;
    return text.substr(begin, text.find("\"}", begin) - begin);
  };
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(value_of("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(value_of("\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(value_of("a\xff\xfe"), "a" + bad + bad);
  EXPECT_EQ(value_of("\xe2\x82"), bad + bad);            // cut off
  EXPECT_EQ(value_of("\xc0\xaf"), bad + bad);            // too long
  EXPECT_EQ(value_of("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
}

TEST(PrometheusTextTest, ALabelWithoutAValueIsNone) {
  EXPECT_EQ(TextOf([](MetricsWriter& w) {
              w.Gauge("y", "Y.", 1, {{"n", ""}, {"m", "x"}});
            }),
            "# HELP y Y.\n# TYPE y gauge\ny{m=\"x\"} 1\n");
}

TEST(PrometheusTextDeathTest, PartsOfAHistogramHaveNames) {
  const auto clash = [](MetricsWriter& w) {
    HistogramSnapshot histogram;
    w.Histogram("x", "X.", histogram);
    w.Gauge("x_count", "Y.", 1);
  };
  EXPECT_DEATH(TextOf(clash), "_bucket, _sum or _count");
}

TEST(PrometheusTextTest, TheFirstHelpCounts) {
  EXPECT_EQ(TextOf([](MetricsWriter& w) {
              w.Gauge("y", "First.", 1, {{"n", "1"}});
              w.Gauge("y", "Second.", 2, {{"n", "2"}});
            }),
            "# HELP y First.\n# TYPE y gauge\ny{n=\"1\"} 1\ny{n=\"2\"} 2\n");
}

TEST(PrometheusTextTest, HelpAndLabelsAreEscaped) {
  EXPECT_EQ(TextOf([](MetricsWriter& w) {
              w.Gauge("y", "a\\b\n\"c\"", 1, {{"k", "a\\b\n\"c\""}});
            }),
            "# HELP y a\\\\b\\n\"c\"\n# TYPE y gauge\n"
            "y{k=\"a\\\\b\\n\\\"c\\\"\"} 1\n");
}

TEST(PrometheusTextTest, LabelsAreInTheOrderOfTheirNames) {
  EXPECT_EQ(TextOf([](MetricsWriter& w) {
              w.Gauge("y", "", 1, {{"b", "1"}, {"a", "2"}});
            }),
            "# HELP y \n# TYPE y gauge\ny{a=\"2\",b=\"1\"} 1\n");
}

TEST(PrometheusTextTest, NumbersKeepTheirValue) {
  const auto text_of = [](double value) {
    const std::string text =
        TextOf([value](MetricsWriter& w) { w.Gauge("y", "", value); });
    return text.substr(text.rfind("y ") + 2);
  };

  EXPECT_EQ(text_of(0), "0\n");
  EXPECT_EQ(text_of(-1.5), "-1.5\n");
  EXPECT_EQ(text_of(0.1), "0.1\n");
  EXPECT_EQ(std::stod(text_of(18446744073709551615.0)), 18446744073709551615.0);
  EXPECT_EQ(text_of(5e-324), "5e-324\n");
  EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN()), "NaN\n");
  EXPECT_EQ(text_of(HUGE_VAL), "+Inf\n");
  EXPECT_EQ(text_of(-HUGE_VAL), "-Inf\n");
}

TEST(PrometheusTextTest, BucketsCountAllUpToTheirBound) {
  EXPECT_EQ(TextOf([](MetricsWriter& w) {
              w.Histogram(
                  "h_seconds", "H.",
                  {.buckets = {{0.5, 1}, {2, 0}, {HUGE_VAL, 2}}, .sum = 9.5},
                  {{"k", "v"}});
            }),
            "# HELP h_seconds H.\n"
            "# TYPE h_seconds histogram\n"
            "h_seconds_bucket{k=\"v\",le=\"0.5\"} 1\n"
            "h_seconds_bucket{k=\"v\",le=\"2\"} 1\n"
            "h_seconds_bucket{k=\"v\",le=\"+Inf\"} 3\n"
            "h_seconds_sum{k=\"v\"} 9.5\n"
            "h_seconds_count{k=\"v\"} 3\n");
}

TEST(PrometheusTextTest, AHistogramOfNothingHasOneBucket) {
  EXPECT_EQ(TextOf([](MetricsWriter& w) { w.Histogram("h", "", {}); }),
            "# HELP h \n# TYPE h histogram\n"
            "h_bucket{le=\"+Inf\"} 0\nh_sum 0\nh_count 0\n");
}

TEST(PrometheusTextDeathTest, BadNamesAreRefused) {
  for (const char* name : {"", "1a", "a-b", "a b", "\xc3\xa4"}) {
    EXPECT_DEATH(TextOf([name](MetricsWriter& w) { w.Gauge(name, "", 1); }),
                 "a name that Prometheus does not take");
  }
  for (const char* name : {"", "1a", "a:b", "le", "__a"}) {
    EXPECT_DEATH(
        TextOf([name](MetricsWriter& w) { w.Gauge("a", "", 1, {{name, ""}}); }),
        "a label with a name that Prometheus does not take");
  }
  EXPECT_NE(TextOf([](MetricsWriter& w) { w.Gauge("a:b_1", "", 1); }), "");
}

TEST(PrometheusTextDeathTest, ACounterEndsInTotal) {
  EXPECT_DEATH(TextOf([](MetricsWriter& w) { w.Counter("a", "", 1); }),
               "does not end in _total");
}

TEST(PrometheusTextDeathTest, AFamilyHasOneKind) {
  EXPECT_DEATH(TextOf([](MetricsWriter& w) {
                 w.Counter("a_total", "", 1);
                 w.Gauge("a_total", "", 1);
               }),
               "different kinds");
}

TEST(PrometheusTextDeathTest, ASampleComesOnce) {
  EXPECT_DEATH(TextOf([](MetricsWriter& w) {
                 w.Gauge("a", "", 1, {{"x", ""}, {"y", ""}});
                 w.Gauge("a", "", 2, {{"y", ""}, {"x", ""}});
               }),
               "the same labels");
  EXPECT_DEATH(TextOf([](MetricsWriter& w) {
                 w.Gauge("a", "", 1, {{"x", "1"}, {"x", "2"}});
               }),
               "two labels of one name");
}

}  // namespace
}  // namespace weft
