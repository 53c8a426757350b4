// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/invoke.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

// Cannot be moved at all.
class Pinned {
 public:
  using Output = int;

  explicit Pinned(int value) : value_(value) {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  Polled<int> Poll(Context&) { return value_; }

 private:
  int value_;
};

TEST(InvokeTest, CallsAtItsFirstPoll) {
  Context cx(NoopWaker());
  int calls = 0;
  auto future = Invoke([&] {
    ++calls;
    return Ready(7);
  });
  EXPECT_EQ(calls, 0);

  EXPECT_EQ(*future.Poll(cx), 7);
  EXPECT_EQ(calls, 1);
}

TEST(InvokeTest, OwnsWhatACoroutineLambdaCaptured) {
  ManualExecutor executor;
  auto make = [] {
    auto captured = std::make_unique<std::string>("captured");
    // weft-lint: allow(R4): Invoke keeps it
    auto lambda = [text = std::move(captured)]() -> Task<std::string> {
      co_await YieldNow();
      co_return *text;
    };
    return Invoke(std::move(lambda));
  };

  EXPECT_EQ(executor.Run(make()), "captured");
}

TEST(InvokeTest, PassesItsArguments) {
  ManualExecutor executor;
  auto add = [](int a, std::unique_ptr<int> b) -> Task<int> {
    co_await YieldNow();
    co_return a + *b;
  };

  EXPECT_EQ(executor.Run(Invoke(add, 3, std::make_unique<int>(4))), 7);
}

TEST(InvokeTest, TheFutureNeedNotBeMovable) {
  Context cx(NoopWaker());
  auto future = Invoke([] { return Pinned(7); });
  auto moved = std::move(future);  // not polled yet

  EXPECT_EQ(*moved.Poll(cx), 7);
}

TEST(InvokeTest, CallsMemberFunctions) {
  struct Server {
    ReadyFuture<int> Get(int n) { return Ready(n); }
  };
  Context cx(NoopWaker());
  auto future = Invoke(&Server::Get, Server(), 3);

  EXPECT_EQ(*future.Poll(cx), 3);
}

TEST(InvokeTest, DestroysTheFutureBeforeTheFunction) {
  ManualExecutor executor;
  bool function_alive = true;
  bool alive_at_end = false;
  struct Function {
    explicit Function(bool* alive) : alive(alive) {}
    Function(Function&& other) noexcept
        : alive(std::exchange(other.alive, nullptr)) {}
    ~Function() {
      if (alive != nullptr) *alive = false;
    }
    bool* alive;
  };
  struct AtEnd {
    ~AtEnd() { *result = *function_alive; }
    bool* function_alive;
    bool* result;
  };
  // weft-lint: allow(R4): Invoke keeps it
  auto lambda = [f = Function(&function_alive), &function_alive,
                 &alive_at_end]() -> Task<> {
    const AtEnd at_end{&function_alive, &alive_at_end};
    co_await Pending();
  };
  {
    auto future = Invoke(std::move(lambda));
    Context cx(NoopWaker());
    EXPECT_TRUE(future.Poll(cx).IsPending());
  }
  EXPECT_TRUE(alive_at_end);
  EXPECT_FALSE(function_alive);
}

TEST(InvokeTest, DroppedAnywhereLeaksNothing) {
  LiveCounter counter;
  auto factory = [&] {
    // weft-lint: allow(R4): Invoke keeps it
    auto lambda = [captured =
                       counter.Make()](LiveCounter::Object given) -> Task<> {
      const LiveCounter::Object copy = captured;
      co_await YieldNow();
      const LiveCounter::Object another = given;
      co_await YieldNow();
    };
    return Invoke(std::move(lambda), counter.Make());
  };

  EXPECT_THAT(
      DropAtEveryPoll(factory, {.live = [&] { return counter.live(); }}),
      IsOkAndHolds(3));
}

TEST(InvokeDeathTest, IsNotMovedAfterAPoll) {
  Context cx(NoopWaker());
  auto future = Invoke([] { return Pending(); });
  EXPECT_TRUE(future.Poll(cx).IsPending());

  auto move = [&] { static_cast<void>(decltype(future)(std::move(future))); };

  EXPECT_DEATH(move(), "moved after its first poll");
}

}  // namespace
}  // namespace weft
