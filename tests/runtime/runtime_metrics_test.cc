// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a runtime of each flavour shows of itself.

#include <cstddef>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/join_handle.h"
#include "weft/task/metric.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/prometheus_text.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/metric_samples.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

using Samples = std::map<std::string, double>;

// The sum of all samples of a family, whatever their labels.
double SumOf(const Samples& samples, const std::string& family) {
  double sum = 0;
  for (const auto& [key, value] : samples) {
    if (key == family || key.starts_with(family + ",")) sum += value;
  }
  return sum;
}

size_t CountOf(const Samples& samples, const std::string& family) {
  size_t count = 0;
  for (const auto& [key, value] : samples) {
    count += key == family || key.starts_with(family + ",");
  }
  return count;
}

enum class Kind { kMultiThread, kThreadPerCore, kCurrentThread };

Runtime Make(Kind kind, bool histograms = false) {
  RuntimeBuilder builder;
  builder.EnableAll();
  if (histograms) builder.EnableHistograms();
  switch (kind) {
    case Kind::kMultiThread:
      builder.WorkerThreads(2);
      break;
    case Kind::kThreadPerCore:
      builder.ThreadPerCore().WorkerThreads(2);
      break;
    case Kind::kCurrentThread:
      builder.CurrentThread();
      break;
  }
  absl::StatusOr<Runtime> runtime = builder.Build();
  EXPECT_TRUE(runtime.ok());
  return *std::move(runtime);
}

Task<> Work() {
  for (int i = 0; i < 100; ++i) co_await YieldNow();
  co_await timer::After(absl::Milliseconds(20));
}

class RuntimeMetricsTest : public testing::TestWithParam<Kind> {
 protected:
  // Runs eight tasks that yield and sleep, and a blocking job.
  static void Use(Runtime& runtime) {
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < 8; ++i) handles.push_back(runtime.Spawn(Work()));
    for (JoinHandle<>& handle : handles) runtime.BlockOn(handle);
    runtime.BlockOn(runtime.SpawnBlocking([] {}));
  }
};

INSTANTIATE_TEST_SUITE_P(All, RuntimeMetricsTest,
                         testing::Values(Kind::kMultiThread,
                                         Kind::kThreadPerCore,
                                         Kind::kCurrentThread),
                         [](const testing::TestParamInfo<Kind>& info) {
                           switch (info.param) {
                             case Kind::kMultiThread:
                               return "MultiThread";
                             case Kind::kThreadPerCore:
                               return "ThreadPerCore";
                             default:
                               return "CurrentThread";
                           }
                         });

TEST_P(RuntimeMetricsTest, ShowAllThatTheRuntimeOwns) {
  Runtime runtime = Make(GetParam());
  const auto workers = static_cast<size_t>(runtime.worker_threads());
  if (GetParam() == Kind::kMultiThread) {
    // A worker may still be on its way.
    const auto runners = [&runtime] {
      return SumOf(SamplesOf(runtime.metrics()), "weft_executor_runners");
    };
    while (runners() != 2) std::this_thread::yield();
  }
  Use(runtime);

  const Samples samples = SamplesOf(runtime.metrics());

  EXPECT_EQ(SumOf(samples, "weft_executor_polls_total"), 8 * 102);
  EXPECT_EQ(SumOf(samples, "weft_executor_polls_total"),
            SumOf(samples, "weft_executor_local_schedules_total") +
                SumOf(samples, "weft_executor_remote_schedules_total"));
  EXPECT_EQ(SumOf(samples, "weft_timers_started_total"), 8);
  EXPECT_EQ(SumOf(samples, "weft_timers_fired_total"), 8);
  EXPECT_EQ(SumOf(samples, "weft_blocking_started_jobs_total"), 1);
  EXPECT_EQ(CountOf(samples, "weft_executor_polls_total"), workers);
  EXPECT_EQ(CountOf(samples, "weft_timers_pending"), workers);
  EXPECT_EQ(CountOf(samples, "weft_reactor_waits_total"), workers);
  EXPECT_EQ(CountOf(samples, "weft_executor_poll_seconds"), 0u);
}

TEST_P(RuntimeMetricsTest, ArePrometheusTextAtAnyTime) {
  Runtime runtime = Make(GetParam());
  MetricsRegistry& metrics = runtime.handle().metrics();
  std::thread reader([&metrics] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_NE(PrometheusText(metrics).find("# TYPE weft_executor_polls_total "
                                             "counter\n"),
                std::string::npos);
    }
  });

  Use(runtime);
  reader.join();

  runtime.Shutdown(absl::Seconds(10));
  EXPECT_NE(PrometheusText(metrics), "");
}

TEST_P(RuntimeMetricsTest, HaveHistogramsIfBuiltWithThem) {
  Runtime runtime = Make(GetParam(), /*histograms=*/true);
  Use(runtime);

  const Samples samples = SamplesOf(runtime.metrics());

  EXPECT_GT(SumOf(samples, "weft_executor_poll_seconds"), 0);
  // A worker may be in a poll: its end is counted later.
  EXPECT_LE(SumOf(samples, "weft_executor_poll_seconds"),
            SumOf(samples, "weft_executor_schedule_latency_seconds"));
}

TEST_P(RuntimeMetricsTest, HistogramsMayBeEnabledLater) {
  Runtime runtime = Make(GetParam());
  Use(runtime);

  runtime.handle().EnableHistograms();
  Use(runtime);
  Use(runtime);

  EXPECT_GT(SumOf(SamplesOf(runtime.metrics()), "weft_executor_poll_seconds"),
            0);
}

TEST_P(RuntimeMetricsTest, NumbersOfTheUsersOwnMayBeAdded) {
  Runtime runtime = Make(GetParam());
  CounterMetric requests("app_requests_total", "Requests.");
  const MetricsRegistration registration = runtime.metrics().Add(requests);

  requests.Increment();

  EXPECT_EQ(SamplesOf(runtime.metrics())["app_requests_total"], 1);
}

TEST(RuntimeMetricsRegistryTest, TwoRuntimesAreToldApartInOneRegistry) {
  Runtime a = Make(Kind::kMultiThread);
  Runtime b = Make(Kind::kCurrentThread);
  MetricsRegistry registry;
  const MetricsRegistration first =
      registry.Add(a.metrics(), {{"runtime", "a"}});
  const MetricsRegistration second =
      registry.Add(b.metrics(), {{"runtime", "b"}});

  const Samples samples = SamplesOf(registry);

  EXPECT_EQ(samples.count("weft_blocking_threads,runtime=a"), 1u);
  EXPECT_EQ(samples.count("weft_blocking_threads,runtime=b"), 1u);
  EXPECT_NE(PrometheusText(registry), "");
}

}  // namespace
}  // namespace weft
