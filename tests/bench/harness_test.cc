// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/harness.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::bench {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(HarnessTest, OptionsHaveDefaults) {
  const std::optional<CaseOptions> options = ParseOptions(std::array{"fib"});

  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->name, "fib");
  EXPECT_EQ(options->workers, 2);
  EXPECT_FALSE(options->io);
}

TEST(HarnessTest, OptionsAreRead) {
  const std::optional<CaseOptions> options = ParseOptions(
      std::array{"fib", "--io", "--size=27", "--workers=4", "--iterations=3"});

  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->io);
  EXPECT_EQ(options->size, 27u);
  EXPECT_EQ(options->workers, 4);
  EXPECT_EQ(options->iterations, 3);
}

TEST(HarnessTest, WhatIsNotUnderstoodIsRefused) {
  EXPECT_FALSE(ParseOptions({}).has_value());
  EXPECT_FALSE(ParseOptions(std::array{"fib", "--size=many"}).has_value());
  EXPECT_FALSE(ParseOptions(std::array{"fib", "--depth=3"}).has_value());
  EXPECT_FALSE(ParseOptions(std::array{"fib", "--workers=0"}).has_value());
}

TEST(HarnessTest, APercentileIsOneOfTheValues) {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= 1000; ++i) values.push_back(i);

  EXPECT_EQ(Percentile(values, 0), 1);
  EXPECT_EQ(Percentile(values, 0.5), 500);
  EXPECT_EQ(Percentile(values, 0.99), 990);
  EXPECT_EQ(Percentile(values, 0.999), 999);
  EXPECT_EQ(Percentile(values, 1), 1000);
}

TEST(HarnessTest, MeasureWarmsUpOnce) {
  Bench bench(*ParseOptions(std::array{"x", "--iterations=5"}));
  int calls = 0;

  bench.Measure(7, [&] { ++calls; });

  EXPECT_EQ(calls, 6);
  EXPECT_THAT(bench.Json(),
              AllOf(HasSubstr("\"case\":\"x\""), HasSubstr("\"ops\":7"),
                    HasSubstr("\"ns_per_op\":"), HasSubstr("\"min\":"),
                    HasSubstr("\"cpu_ns_per_op\":"),
                    ContainsRegex("\"max_rss_kb\":[1-9][0-9]*}$")));
}

TEST(HarnessTest, LatenciesAreSorted) {
  Bench bench(*ParseOptions(std::array{"x"}));

  bench.RecordLatency({30, 10, 20});

  EXPECT_THAT(bench.Json(),
              AllOf(HasSubstr("\"p50\":20"), HasSubstr("\"p999\":30")));
}

TEST(HarnessTest, AnUnknownCaseIsAnError) {
  static bool ran = false;
  constexpr std::array<Case, 1> kCases = {
      {{"one", [](Bench&) { ran = true; }}}};

  EXPECT_EQ(RunCase(std::array{"two"}, kCases), 2);
  EXPECT_FALSE(ran);
  EXPECT_EQ(RunCase(std::array{"one"}, kCases), 0);
  EXPECT_TRUE(ran);
}

TEST(HarnessTest, WhatAProgramHasNotHasAReason) {
  static constexpr Case kCases[] = {{"lock_1", [](Bench&) {}}};
  static constexpr Unsupported kUnsupported[] = {{"lock_2", "one at a time"},
                                                 {"lock", "no locks"}};
  const auto printed = [](const char* name) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(RunCase(std::array{name}, kCases, kUnsupported), 0);
    return testing::internal::GetCapturedStdout();
  };

  EXPECT_THAT(printed("lock_1"), testing::Not(HasSubstr("unsupported")));
  EXPECT_EQ(printed("lock_20"),
            "{\"case\":\"lock_20\",\"unsupported\":\"one at a time\"}\n");
  EXPECT_THAT(printed("lock_3"), HasSubstr("no locks"));
  EXPECT_EQ(RunCase(std::array{"x"}, kCases, kUnsupported), 2);
}

}  // namespace
}  // namespace weft::bench
