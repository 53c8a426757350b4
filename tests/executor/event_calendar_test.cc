// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/event_calendar.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/task/instant.h"
#include "weft/task/status_matchers.h"

namespace weft {
namespace {

using testing::HasSubstr;

// Calls a function.
class Call final : public EventCalendar::Event {
 public:
  explicit Call(std::function<void()> fn) : fn_(std::move(fn)) {}

 private:
  void Happen() override { fn_(); }
  std::string Describe() const override { return "a call"; }

  const std::function<void()> fn_;
};

TEST(EventCalendarTest, AnEventHappensAtItsMoment) {
  DeterministicExecutor executor({});
  EventCalendar calendar(executor);
  const Instant start = calendar.Now();
  std::optional<Instant> at;
  Call call([&] { at = calendar.Now(); });
  EXPECT_FALSE(call.is_scheduled());
  calendar.Schedule(call, start + absl::Seconds(5));
  EXPECT_TRUE(call.is_scheduled());
  EXPECT_EQ(calendar.NextTime(), start + absl::Seconds(5));
  EXPECT_EQ(calendar.ready(), 0u);

  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(at, start + absl::Seconds(5));
  EXPECT_FALSE(call.is_scheduled());
  EXPECT_EQ(calendar.NextTime(), Instant::Infinite());
  EXPECT_THAT(executor.TraceText(), HasSubstr("5s a call (of 1)"));
}

TEST(EventCalendarTest, WhatIsDueAtTheSameMomentHappensInAnyOrder) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    DeterministicExecutor executor({.seed = seed});
    EventCalendar calendar(executor);
    std::string order;
    Call a([&] { order += 'a'; });
    Call b([&] { order += 'b'; });
    Call late([&] { order += 'c'; });
    const Instant soon = calendar.Now() + absl::Seconds(1);
    calendar.Schedule(late, soon + absl::Seconds(1));
    calendar.Schedule(a, soon);
    calendar.Schedule(b, soon);
    EXPECT_THAT(executor.RunUntilIdle(), IsOk());
    orders.insert(order);
  }
  EXPECT_THAT(orders, testing::ElementsAre("abc", "bac"));
}

TEST(EventCalendarTest, ThePlainestOrderIsThatOfTheMoments) {
  DeterministicExecutor executor({.choices = {}});
  EventCalendar calendar(executor);
  std::string order;
  Call a([&] { order += 'a'; });
  Call b([&] { order += 'b'; });
  Call c([&] { order += 'c'; });
  calendar.Schedule(c, calendar.Now());
  calendar.Schedule(b, calendar.Now() - absl::Seconds(1));
  calendar.Schedule(a, calendar.Now() - absl::Seconds(2));
  EXPECT_EQ(calendar.ready(), 3u);
  calendar.Happen(0);
  calendar.Happen(0);
  calendar.Happen(0);
  EXPECT_EQ(order, "abc");
}

TEST(EventCalendarTest, ScheduledAgainItHappensOnceAtTheNewMoment) {
  DeterministicExecutor executor({});
  EventCalendar calendar(executor);
  int calls = 0;
  Call call([&] { ++calls; });
  calendar.Schedule(call, calendar.Now());
  calendar.Schedule(call, calendar.Now() + absl::Seconds(1));
  EXPECT_EQ(calendar.ready(), 0u);
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(calls, 1);
}

TEST(EventCalendarTest, AnEventMayScheduleItselfAndDestroyItself) {
  DeterministicExecutor executor({});
  EventCalendar calendar(executor);
  int calls = 0;
  std::optional<Call> call;
  call.emplace([&] {
    if (++calls < 3) {
      calendar.Schedule(*call, calendar.Now() + absl::Seconds(1));
    } else {
      call.reset();
    }
  });
  calendar.Schedule(*call, calendar.Now());
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(call.has_value());
}

TEST(EventCalendarTest, WhatIsCancelledOrDestroyedDoesNotHappen) {
  DeterministicExecutor executor({});
  EventCalendar calendar(executor);
  Call cancelled([] { ADD_FAILURE(); });
  {
    Call destroyed([] { ADD_FAILURE(); });
    calendar.Schedule(destroyed, calendar.Now());
  }
  calendar.Schedule(cancelled, calendar.Now());
  calendar.Cancel(cancelled);
  calendar.Cancel(cancelled);
  EXPECT_EQ(calendar.ready(), 0u);
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
}

TEST(EventCalendarTest, EventsMayOutliveIt) {
  DeterministicExecutor executor({});
  Call call([] { ADD_FAILURE(); });
  {
    EventCalendar calendar(executor);
    calendar.Schedule(call, calendar.Now());
  }
  EXPECT_FALSE(call.is_scheduled());
  EXPECT_THAT(executor.RunUntilIdle(), IsOk());
}

}  // namespace
}  // namespace weft
