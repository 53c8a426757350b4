// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/block_on.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/offload.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"
#include "weft/tests/kit/thread_offload.h"

namespace weft {
namespace {

Task<int> YieldThenReturn(int value) {
  co_await YieldNow();
  co_return value;
}

// Counts how it is parked and does a thing each time.
class CountingDriver final : public Driver {
 public:
  void Park(Instant deadline) override {
    ++(deadline == Instant::Past() ? polls : parks);
    if (on_park != nullptr) on_park();
    if (deadline != Instant::Past()) return;  // early returns are allowed
    parker_.Park(deadline);
  }
  Waker Unparker() override { return parker_.Unparker(); }

  int polls = 0;
  int parks = 0;
  std::function<void()> on_park;

 private:
  Parker parker_;
};

TEST(BlockOnTest, GivesOutputsOfEveryKind) {
  int number = 1;
  auto refer = [](int* number) -> Task<int&> { co_return *number; };

  EXPECT_EQ(BlockOn(Ready(7)), 7);
  EXPECT_EQ(*BlockOn(Ready(std::make_unique<int>(7))), 7);
  BlockOn(Ready());
  EXPECT_EQ(&BlockOn(refer(&number)), &number);
  EXPECT_EQ(BlockOn(YieldThenReturn(7)), 7);
}

TEST(BlockOnTest, PollsAnLvalueWhereItStands) {
  Task<int> task = YieldThenReturn(7);

  EXPECT_EQ(BlockOn(task), 7);
}

TEST(BlockOnTest, DrivesTheThreadsDriver) {
  CountingDriver driver;
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  Signal signal;
  driver.on_park = [&] {
    if (driver.parks == 3) signal.Set(7);
  };

  EXPECT_EQ(BlockOn(signal.Wait()), 7);

  EXPECT_EQ(driver.parks, 3);
  EXPECT_EQ(signal.polls(), 2);  // not once per park
}

// A future that wakes itself in each poll still lets the driver work.
TEST(BlockOnTest, AYieldPollsTheDriverOnce) {
  CountingDriver driver;
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  auto yield = []() -> Task<> {
    for (int i = 0; i < 5; ++i) co_await YieldNow();
  };

  BlockOn(yield());

  EXPECT_EQ(driver.polls, 5);
  EXPECT_EQ(driver.parks, 0);
}

TEST(BlockOnTest, LateWakersFindNobody) {
  Waker late;
  auto keep = [&late, first = true](Context& cx) mutable -> Polled<void> {
    if (!std::exchange(first, false)) return Unit();
    late = cx.waker();
    cx.waker().WakeByRef();
    return kPending;
  };
  std::thread([&] { BlockOn(PollFn(keep)); }).join();

  late.WakeByRef();
  std::move(late).Wake();
}

TEST(BlockOnTest, Nests) {
  auto outer =
      PollFn([](Context&) { return Polled(BlockOn(YieldThenReturn(7))); });

  EXPECT_EQ(BlockOn(std::move(outer)), 7);
}

// The inner wait may swallow the outer one's unpark, but not its wake.
TEST(BlockOnTest, ANestedWaitLosesNoWakeOfTheOuter) {
  std::atomic<bool> done{false};
  auto outer = PollFn([&](Context& cx) -> Polled<int> {
    if (done.load()) return 7;
    std::thread waking([&done, waker = Waker(cx.waker())]() mutable {
      done.store(true);
      std::move(waker).Wake();
    });
    waking.join();
    BlockOn(YieldThenReturn(1));
    return kPending;
  });

  EXPECT_EQ(BlockOn(std::move(outer)), 7);
}

TEST(BlockOnTest, WorksInsideSpawnBlocking) {
  ThreadOffload offload;
  Environment environment;
  environment.offload = &offload;
  const EnvironmentScope scope(environment);

  EXPECT_EQ(BlockOn(SpawnBlocking([] { return BlockOn(YieldThenReturn(7)); })),
            7);
}

// One place where a thread waits for another, again and again; what the waker
// points to must not be the frame that waited.
[[gnu::noinline]] int WaitForOther(AtomicWaker& slot, std::atomic<int>& sent,
                                   int wanted) {
  return BlockOn(PollFn([&](Context& cx) -> Polled<int> {
    if (sent.load() >= wanted) return wanted;
    slot.Register(cx.waker());
    if (sent.load() >= wanted) return wanted;
    return kPending;
  }));
}
[[gnu::noinline]] void OverwriteStack(int value) {
  volatile unsigned char bytes[2048];
  for (volatile unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(value);
  }
}

TEST(BlockOnTest, ReturnsOnlyWhenNobodyTouchesItsStackAnyMore) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 200'000 : 20'000;
  AtomicWaker slot;
  std::atomic<int> sent{0};
  std::atomic<int> asked{0};
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (asked.load() < i) std::this_thread::yield();
      sent.store(i);
      slot.Wake();
    }
  });

  for (int i = 1; i <= rounds; ++i) {
    asked.store(i);
    ASSERT_EQ(WaitForOther(slot, sent, i), i);
    OverwriteStack(i);
  }
  other.join();
}

TEST(BlockOnTest, ManyThreadsWaitForOneExecutor) {
  ManualExecutor executor;
  Signal signals[4];
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (Signal& signal : signals) {
    auto wait = [](Signal* signal) -> Task<int> {
      co_return co_await signal->Wait();
    };
    threads.emplace_back(
        [&sum, handle = executor.SpawnBorrowing(wait(&signal))]() mutable {
          sum += BlockOn(handle);
        });
  }
  for (Signal& signal : signals) signal.Set(1);
  while (executor.live() != 0) executor.RunUntilIdle();
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(sum.load(), 4);
}

// ---- A caller's mistakes ----

// A task that blocks on its own child would wait for its own thread.
TEST(BlockOnDeathTest, CalledByATaskNamesTheRemedy) {
  ManualExecutor executor;
  auto parent = []() -> Task<int> {
    JoinHandle<int> child = Spawn(YieldThenReturn(7));
    co_return BlockOn(child);
  };
  const JoinHandle<int> handle = executor.Spawn(parent());

  EXPECT_DEATH(executor.RunUntilIdle(), "co_await the future");
}

}  // namespace
}  // namespace weft
