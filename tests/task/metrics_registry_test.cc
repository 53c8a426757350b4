// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/metrics_registry.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/metrics.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Writes one gauge, or does what it is told.
class FakeSource final : public MetricsSource {
 public:
  explicit FakeSource(std::string name, MetricLabels labels = {})
      : name_(std::move(name)), labels_(std::move(labels)) {}

  void Collect(MetricsWriter& writer) const override {
    if (on_collect) on_collect();
    writer.Gauge(name_, "", 1, labels_);
  }

  std::function<void()> on_collect;

 private:
  const std::string name_;
  const MetricLabels labels_;
};

// What a registry collects, as "name,label=value…".
std::vector<std::string> Collected(const MetricsSource& source) {
  class Lines final : public MetricsWriter {
   public:
    void Write(const MetricSample& sample) override {
      std::string line(sample.name);
      for (const MetricLabel& label : sample.labels) {
        line += "," + label.name + "=" + label.value;
      }
      lines.push_back(std::move(line));
    }
    std::vector<std::string> lines;
  } writer;
  source.Collect(writer);
  return writer.lines;
}

TEST(MetricsRegistryTest, IsEmptyAtFirst) {
  const MetricsRegistry registry;

  EXPECT_THAT(Collected(registry), IsEmpty());
}

TEST(MetricsRegistryTest, SourcesGetTheirLabels) {
  MetricsRegistry registry;
  const FakeSource a("a", {{"x", "1"}});
  const FakeSource b("b");

  const MetricsRegistration first = registry.Add(a, {{"runtime", "main"}});
  const MetricsRegistration second = registry.Add(b);

  EXPECT_THAT(Collected(registry), ElementsAre("a,x=1,runtime=main", "b"));
}

TEST(MetricsRegistryTest, ASamplesOwnLabelWins) {
  MetricsRegistry registry;
  const FakeSource a("a", {{"x", "1"}});

  const MetricsRegistration registration =
      registry.Add(a, {{"x", "2"}, {"y", "3"}});

  EXPECT_THAT(Collected(registry), ElementsAre("a,x=1,y=3"));
}

TEST(MetricsRegistryTest, OneSourceMayBeAddedTwice) {
  MetricsRegistry registry;
  const FakeSource a("a");

  const MetricsRegistration first = registry.Add(a, {{"n", "1"}});
  {
    const MetricsRegistration second = registry.Add(a, {{"n", "2"}});
    EXPECT_THAT(Collected(registry), ElementsAre("a,n=1", "a,n=2"));
  }

  EXPECT_THAT(Collected(registry), ElementsAre("a,n=1"));
}

TEST(MetricsRegistryTest, ARegistryIsASource) {
  MetricsRegistry inner;
  MetricsRegistry outer;
  const FakeSource a("a");

  const MetricsRegistration first = inner.Add(a, {{"part", "p"}});
  const MetricsRegistration second = outer.Add(inner, {{"runtime", "r"}});

  EXPECT_THAT(Collected(outer), ElementsAre("a,part=p,runtime=r"));
}

TEST(MetricsRegistryTest, ARegistrationMovesAndEndsWhatItReplaces) {
  MetricsRegistry registry;
  const FakeSource a("a");
  const FakeSource b("b");
  MetricsRegistration registration;

  registration = registry.Add(a);
  EXPECT_THAT(Collected(registry), ElementsAre("a"));
  registration = registry.Add(b);

  EXPECT_THAT(Collected(registry), ElementsAre("b"));
  const MetricsRegistration moved = std::move(registration);
  EXPECT_THAT(Collected(registry), ElementsAre("b"));
}

TEST(MetricsRegistryTest, ARegistrationMayOutliveIt) {
  auto registry = std::make_unique<MetricsRegistry>();
  const FakeSource a("a");
  const MetricsRegistration registration = registry->Add(a);

  registry.reset();

  EXPECT_EQ(registry, nullptr);
}

TEST(MetricsRegistryTest, ASourceMayAddAndRemoveOthers) {
  MetricsRegistry registry;
  FakeSource a("a");
  const FakeSource b("b");
  std::optional<MetricsRegistration> other = registry.Add(b);
  a.on_collect = [&] { other.reset(); };

  const MetricsRegistration registration = registry.Add(a);

  EXPECT_THAT(Collected(registry), ElementsAre("b", "a"));
  a.on_collect = [&] { other = registry.Add(b); };
  EXPECT_THAT(Collected(registry), ElementsAre("a"));
  a.on_collect = nullptr;
  EXPECT_THAT(Collected(registry), ElementsAre("a", "b"));
}

TEST(MetricsRegistryTest, ARemovedSourceIsNotCalledAnyMore) {
  constexpr int kRounds = 200;
  MetricsRegistry registry;
  std::atomic<bool> stop{false};
  std::vector<std::thread> collectors;
  for (int i = 0; i < 2; ++i) {
    collectors.emplace_back([&] {
      while (!stop.load()) Collected(registry);
    });
  }

  for (int i = 0; i < kRounds; ++i) {
    auto alive = std::make_unique<int>(0);
    FakeSource source("a");
    int* const target = alive.get();
    source.on_collect = [target] { EXPECT_GE(*target, 0); };
    const MetricsRegistration registration = registry.Add(source);
    std::this_thread::yield();
  }  // the registration goes first

  stop.store(true);
  for (std::thread& collector : collectors) collector.join();
  EXPECT_THAT(Collected(registry), IsEmpty());
}

TEST(MetricsRegistryTest, WhoRemovesASourceWaitsForThoseInsideOfIt) {
  MetricsRegistry registry;
  FakeSource source("a");
  std::atomic<bool> inside{false};
  std::atomic<bool> removing{false};
  std::atomic<bool> left{false};
  source.on_collect = [&] {
    inside.store(true);
    while (!removing.load()) std::this_thread::yield();
    left.store(true);
  };
  std::optional<MetricsRegistration> registration = registry.Add(source);
  std::thread collector([&] { Collected(registry); });
  while (!inside.load()) std::this_thread::yield();

  removing.store(true);
  registration.reset();

  EXPECT_TRUE(left.load());
  collector.join();
}

TEST(MetricsRegistryDeathTest, ASourceDoesNotRemoveItself) {
  EXPECT_DEATH(
      {
        MetricsRegistry registry;
        FakeSource source("a");
        std::optional<MetricsRegistration> registration = registry.Add(source);
        source.on_collect = [&] { registration.reset(); };
        Collected(registry);
      },
      "inside Collect");
}

}  // namespace
}  // namespace weft
