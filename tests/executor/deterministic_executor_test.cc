// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/deterministic_executor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/event_source.h"
#include "weft/io/pipe.h"
#include "weft/io/reactor.h"
#include "weft/io/read.h"
#include "weft/io/write_all.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using timer::After;

using Options = DeterministicExecutor::Options;

// Appends `id` to `order`, `n` times.
Task<> Mark(std::vector<int>& order, int id, int n) {
  for (int i = 0; i < n; ++i) {
    order.push_back(id);
    co_await YieldNow();
  }
}

// In which order three tasks ran, and all that the executor tells of it.
struct Story {
  std::vector<int> order;
  std::string trace;
  uint64_t fingerprint;
  std::vector<uint32_t> choices;

  bool operator==(const Story&) const = default;
};

Story Tell(Options options) {
  Story story;
  DeterministicExecutor executor(std::move(options));
  EXPECT_THAT(executor.Run([](std::vector<int>& order) -> Task<> {
    std::vector<JoinHandle<>> handles;
    for (int id = 1; id <= 3; ++id) {
      handles.push_back(SpawnBorrowing(Mark(order, id, 4)));
    }
    for (JoinHandle<>& handle : handles) co_await handle;
    co_await After(absl::Milliseconds(5));
    order.push_back(static_cast<int>(Environment::CurrentRandom().Below(100)));
  }(story.order)),
              IsOk());
  story.trace = executor.TraceText();
  story.fingerprint = executor.fingerprint();
  story.choices = executor.choices();
  return story;
}

TEST(DeterministicExecutorTest, ASeedGivesTheSameRunToTheByte) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(Tell({.seed = seed}), Tell({.seed = seed}));
  }
}

TEST(DeterministicExecutorTest, SeedsGiveDifferentRuns) {
  std::set<std::vector<int>> orders;
  std::set<uint64_t> fingerprints;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Story story = Tell({.seed = seed});
    orders.insert(story.order);
    fingerprints.insert(story.fingerprint);
  }
  EXPECT_GT(orders.size(), 95u);
  EXPECT_GT(fingerprints.size(), 95u);
}

TEST(DeterministicExecutorTest, ChoicesReplayARun) {
  const Story story = Tell({.seed = 3});
  EXPECT_EQ(Tell({.seed = 3, .choices = story.choices}), story);
}

TEST(DeterministicExecutorTest, WithoutChoicesLeftWhoHasWaitedLongestRuns) {
  std::vector<int> order = Tell({.choices = std::vector<uint32_t>()}).order;
  order.pop_back();  // the random number
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3));
}

TEST(DeterministicExecutorTest, ChoicesThatDoNotFitAreCut) {
  const Story story =
      Tell({.choices = std::vector<uint32_t>(100, 1'000'000'000)});
  for (const uint32_t choice : story.choices) EXPECT_LE(choice, 3u);
}

TEST(DeterministicExecutorTest, TheTraceNamesWhatHappened) {
  DeterministicExecutor executor({.seed = 1});
  EXPECT_THAT(executor.Run([]() -> Task<> {
    JoinHandle<> child = SpawnBuilder().Name("child").Spawn(
        []() -> Task<> { co_await After(absl::Milliseconds(20)); });
    co_await child;
    co_await SpawnBlocking([] {});
  }()),
              IsOk());
  const std::string trace = executor.TraceText();
  EXPECT_THAT(trace, HasSubstr("1 0 the main future (of 1)\n"));
  EXPECT_THAT(trace, HasSubstr("task 1 \"child\""));
  EXPECT_THAT(trace, HasSubstr("time passes"));
  EXPECT_THAT(trace, HasSubstr("20ms task 1 \"child\""));
  EXPECT_THAT(trace, HasSubstr("job 1"));
}

TEST(DeterministicExecutorTest, WithoutATraceTheRunIsTheSame) {
  Story quiet = Tell({.seed = 5, .trace = false});
  EXPECT_EQ(quiet.trace, "");
  const Story told = Tell({.seed = 5});
  quiet.trace = told.trace;
  EXPECT_EQ(quiet, told);
}

TEST(DeterministicExecutorTest, GivesTheOutput) {
  DeterministicExecutor executor({});
  absl::Status status = executor.Run(Ready(absl::OkStatus()));
  EXPECT_THAT(status, IsOk());
  status = executor.Run(Ready(absl::NotFoundError("no")));
  EXPECT_TRUE(absl::IsNotFound(status));
  absl::StatusOr<int> number = executor.Run(Ready(7));
  EXPECT_EQ(number.value(), 7);
  number = executor.Run(Ready(absl::StatusOr<int>(8)));
  EXPECT_EQ(number.value(), 8);
  absl::StatusOr<std::unique_ptr<int>> pointer =
      executor.Run(Ready(std::make_unique<int>(9)));
  EXPECT_EQ(**pointer, 9);
}

// ---- Time ----

TEST(DeterministicExecutorTest, AnHourTakesNoTime) {
  DeterministicExecutor executor({});
  const Instant before = executor.clock().Now();
  EXPECT_THAT(
      executor.Run([]() -> Task<> { co_await After(absl::Hours(1)); }()),
      IsOk());
  EXPECT_EQ(executor.clock().Now() - before, absl::Hours(1));
}

TEST(DeterministicExecutorTest, TimeDoesNotPassWhileSomethingCanHappen) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    DeterministicExecutor executor({.seed = seed});
    EXPECT_THAT(executor.Run([]() -> Task<> {
      JoinHandle<> busy = weft::Spawn([]() -> Task<> {
        for (int i = 0; i < 20; ++i) co_await YieldNow();
      });
      const Instant before = Environment::CurrentClock().Now();
      co_await busy;
      EXPECT_EQ(Environment::CurrentClock().Now(), before);
    }()),
                IsOk());
  }
}

// ---- Jobs ----

TEST(DeterministicExecutorTest, JobsRunBeforeOrAfterTasks) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    DeterministicExecutor executor({.seed = seed});
    std::string order;
    EXPECT_THAT(executor.Run([](std::string& order) -> Task<> {
      JoinHandle<> job = SpawnBlocking([&order] { order += 'j'; });
      for (int i = 0; i < 2; ++i) {
        order += 't';
        co_await YieldNow();
      }
      co_await job;
    }(order)),
                IsOk());
    orders.insert(order);
  }
  EXPECT_THAT(orders, testing::UnorderedElementsAre("tjt", "ttj"));
}

TEST(DeterministicExecutorTest, AJobWhoseHandleGoesIsDestroyedAtOnce) {
  DeterministicExecutor executor({});
  EXPECT_THAT(executor.Run([]() -> Task<> {
    auto held = std::make_shared<int>(0);
    std::weak_ptr<int> watch = held;
    {
      JoinHandle<> job =
          SpawnBlocking([held = std::move(held)] { ADD_FAILURE(); });
    }
    EXPECT_TRUE(watch.expired());
    co_return;
  }()),
              IsOk());
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
}

TEST(DeterministicExecutorTest, JobsAndTasksThatAreLeftAreDestroyed) {
  auto held = std::make_shared<int>(0);
  std::optional<JoinHandle<>> job;
  {
    DeterministicExecutor executor({});
    executor.Spawn([held]() -> Task<> { co_await After(absl::Seconds(1)); })
        .Detach();
    EXPECT_THAT(executor.Run(Invoke([&]() -> Task<> {
      job.emplace(SpawnBlocking([held] { ADD_FAILURE(); }));
      co_return;
    })),
                IsOk());
    EXPECT_EQ(held.use_count(), 3);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(job->IsFinished());
}

// ---- Trouble ----

struct Never {
  using Output = void;
  Polled<void> Poll(Context&) { return kPending; }
};

TEST(DeterministicExecutorTest, SaysWhoWaitsForEver) {
  DeterministicExecutor executor({});
  const absl::Status status = executor.Run([]() -> Task<> {
    JoinHandle<> child = SpawnBuilder().Name("lonely").Spawn(Never());
    co_await child;
  }());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(status.message(), HasSubstr("nothing can happen any more"));
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "task 1 \"lonely\", spawned at deterministic_executor_test.cc:"));
}

TEST(DeterministicExecutorTest, ATaskThatWakesItselfForEverIsFound) {
  DeterministicExecutor executor({.max_steps = 1000});
  const absl::Status status = executor.Run([]() -> Task<> {
    for (;;) co_await YieldNow();
  }());
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(status.message(), HasSubstr("after 1000 steps"));
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());  // it is gone
}

TEST(DeterministicExecutorTest, AsManyStepsAsAllowedAreEnough) {
  DeterministicExecutor executor({.max_steps = 2});
  EXPECT_THAT(executor.Run(YieldNow()), IsOk());
  EXPECT_TRUE(absl::IsResourceExhausted(executor.Run(YieldNow())));
}

TEST(DeterministicExecutorTest, RunsAgainAfterTrouble) {
  DeterministicExecutor executor({});
  EXPECT_FALSE(executor.Run(Never()).ok());
  EXPECT_THAT(executor.Run(YieldNow()), IsOk());
  executor.Spawn(YieldNow()).Detach();
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(executor.live(), 0u);
}

TEST(DeterministicExecutorDeathTest, BlockingInATaskIsRefused) {
  DeterministicExecutor executor({});
  EXPECT_DEATH(static_cast<void>(executor.Run([]() -> Task<> {
                 BlockOn(YieldNow());
                 co_return;
               }())),
               "co_await the future");
}

TEST(DeterministicExecutorDeathTest, RunningItInsideItselfIsRefused) {
  DeterministicExecutor executor({});
  EXPECT_DEATH(static_cast<void>(executor.Run(Invoke([&]() -> Task<> {
                 static_cast<void>(executor.Run(YieldNow()));
                 co_return;
               }))),
               "by a task that it runs");
}

#if defined(__cpp_exceptions)
TEST(DeterministicExecutorTest, WhatTheFutureThrowsComesOut) {
  DeterministicExecutor executor({});
  EXPECT_THROW(static_cast<void>(executor.Run([]() -> Task<> {
                 co_await YieldNow();
                 throw std::runtime_error("broken");
               }())),
               std::runtime_error);
  EXPECT_THAT(executor.Run(YieldNow()), IsOk());
}

TEST(DeterministicExecutorTest, WhatADetachedTaskThrowsIsReported) {
  DeterministicExecutor executor({});
  const absl::Status status = executor.Run([]() -> Task<> {
    SpawnBuilder()
        .Name("rash")
        .Spawn([]() -> Task<> {
          co_await YieldNow();
          throw std::runtime_error("broken");
        })
        .Detach();
    for (int i = 0; i < 100; ++i) co_await YieldNow();
  }());
  EXPECT_EQ(status,
            absl::InternalError("a detached task \"rash\" has thrown: broken"));
}
#endif

// ---- Sources ----

// Numbers that arrive in any order, and one more each second.
class Numbers final : public EventSource {
 public:
  size_t ready() const override { return waiting.size(); }
  void Happen(size_t which) override {
    arrived.push_back(waiting[which]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(which));
    if (waker.has_value()) std::exchange(waker, std::nullopt)->WakeByRef();
  }
  std::string Describe(size_t which) const override {
    return absl::StrCat("number ", waiting[which]);
  }

  std::vector<int> waiting;
  std::vector<int> arrived;
  std::optional<Waker> waker;
};

TEST(DeterministicExecutorTest, EventsOfASourceComeInAnyOrder) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    DeterministicExecutor executor({.seed = seed});
    Numbers numbers;
    numbers.waiting = {1, 2, 3};
    executor.AddSource(numbers);
    EXPECT_THAT(executor.Run(PollFn([&](Context& cx) -> Polled<void> {
      if (numbers.arrived.size() == 3) return Unit();
      numbers.waker = cx.waker();
      return kPending;
    })),
                IsOk());
    EXPECT_THAT(executor.TraceText(), HasSubstr("number 2"));
    orders.insert(numbers.arrived);
    executor.RemoveSource(numbers);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(DeterministicExecutorTest, TheFingerprintTellsEventsApart) {
  std::set<uint64_t> fingerprints;
  for (const int number : {1, 2}) {
    DeterministicExecutor executor({});
    Numbers numbers;
    numbers.waiting = {number};
    executor.AddSource(numbers);
    EXPECT_THAT(executor.RunUntilIdle(), IsOk());
    fingerprints.insert(executor.fingerprint());
    executor.RemoveSource(numbers);
  }
  EXPECT_EQ(fingerprints.size(), 2u);
}

// Ready at a moment.
class Alarm final : public EventSource {
 public:
  explicit Alarm(DeterministicExecutor& executor) : executor_(executor) {}

  size_t ready() const override { return !rung && NowIsDue(); }
  void Happen(size_t) override {
    rung = true;
    if (waker.has_value()) waker->WakeByRef();
  }
  Instant NextTime() const override { return rung ? Instant::Infinite() : due; }
  std::string Describe(size_t) const override { return "the alarm"; }

  Instant due = timer::FakeClock::kStart + absl::Seconds(30);
  bool rung = false;
  std::optional<Waker> waker;

 private:
  bool NowIsDue() const { return executor_.clock().Now() >= due; }

  DeterministicExecutor& executor_;
};

TEST(DeterministicExecutorTest, TimeGoesToTheNextEventOfASource) {
  DeterministicExecutor executor({});
  Alarm alarm(executor);
  executor.AddSource(alarm);
  EXPECT_THAT(executor.Run(PollFn([&](Context& cx) -> Polled<void> {
    if (alarm.rung) return Unit();
    alarm.waker = cx.waker();
    return kPending;
  })),
              IsOk());
  EXPECT_EQ(executor.clock().Now(), alarm.due);
  executor.RemoveSource(alarm);
}

// ---- Real I/O ----

TEST(DeterministicExecutorDeathTest, WaitingForADescriptorIsRefused) {
  io::Pipe pipe = *io::Pipe::Create();
  DeterministicExecutor executor({});
  EXPECT_DEATH(
      static_cast<void>(executor.Run(Invoke([&]() -> Task<> {
        char byte = 0;
        static_cast<void>(co_await io::Read(pipe.reader, std::span(&byte, 1)));
      }))),
      "a descriptor was waited for in a DeterministicExecutor");
}

class RealIoTest : public testing::Test {
 protected:
  RealIoTest() : reactor_(*io::Reactor::Create()) {
    Environment real;
    real.driver = real.reactor = reactor_.get();
    executor_.AllowRealIo(real, absl::Milliseconds(50));
  }

  std::unique_ptr<io::Reactor> reactor_;
  DeterministicExecutor executor_{{}};
};

TEST_F(RealIoTest, WhatComesFromOutsideIsWaitedFor) {
  io::Pipe pipe = *io::Pipe::Create();
  // When the task waits, or before; the pipe keeps it.
  std::thread writer([&] {
    EXPECT_THAT(BlockOn(io::WriteAll(pipe.writer, std::string_view("x"))),
                IsOk());
  });
  char byte = 0;
  const absl::StatusOr<size_t> read =
      executor_.Run(io::Read(pipe.reader, std::span(&byte, 1)));
  writer.join();
  EXPECT_THAT(read, IsOk());
  EXPECT_EQ(byte, 'x');
}

TEST_F(RealIoTest, IsReportedAsNotRepeatable) {
  EXPECT_FALSE(executor_.IsRepeatable());
  EXPECT_THAT(executor_.TraceText(), testing::StartsWith("not repeatable"));
  EXPECT_TRUE(DeterministicExecutor({}).IsRepeatable());
}

TEST_F(RealIoTest, TimePassesAsOutside) {
  const Instant began = Instant::Now();
  EXPECT_THAT(executor_.Run([]() -> Task<> {
    co_await After(absl::Milliseconds(120));
  }()),
              IsOk());
  EXPECT_GE(Instant::Now() - began, absl::Milliseconds(120));
}

TEST_F(RealIoTest, PatienceEnds) {
  EXPECT_TRUE(absl::IsFailedPrecondition(executor_.Run(Never())));
}

}  // namespace
}  // namespace weft
