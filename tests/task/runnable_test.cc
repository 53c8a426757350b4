// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Every event that can happen to a spawned task, before and after every other:
// run, wake, cancel, drop and detach, with counts of what was destroyed.

#include "weft/task/runnable.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/frame_cache.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

// What a test sees of one task.
struct Probe {
  // How often each was made or happened.
  int polls = 0;
  int schedules = 0;
  int schedules_while_running = 0;
  int pendings = 0;
  int gones = 0;
  // What is alive.
  LiveCounter futures;
  LiveCounter outputs;
  LiveCounter schedulers;
  LiveCounter metadatas;

  // How the future behaves.
  int ready_at_poll = 1;         // 0: never
  bool wakes_in_poll = false;    // itself
  bool cancels_in_poll = false;  // by dropping `handle`
  bool keeps_waker = false;      // in `waker`

  Waker waker;
  std::optional<JoinHandle<LiveCounter::Object>> handle;
};

struct Metadata {
  explicit Metadata(Probe* probe)
      : probe(probe), object(probe->metadatas.Make()) {}
  void OnPending() { ++probe->pendings; }
  void OnGone() {
    ++probe->gones;
    EXPECT_EQ(probe->futures.live(), 0);
  }
  Probe* probe;
  LiveCounter::Object object;
};

using TestRunnable = Runnable<Metadata>;

class TestFuture {
 public:
  using Output = LiveCounter::Object;

  explicit TestFuture(Probe* probe)
      : probe_(probe), object_(probe->futures.Make()) {}

  Polled<LiveCounter::Object> Poll(Context& cx) {
    ++probe_->polls;
    if (probe_->polls == probe_->ready_at_poll) return probe_->outputs.Make();
    if (probe_->keeps_waker) probe_->waker = cx.waker();
    if (probe_->cancels_in_poll) probe_->handle.reset();
    if (probe_->wakes_in_poll) {
      cx.waker().WakeByRef();
      cx.waker().WakeByRef();
    }
    return kPending;
  }

 private:
  Probe* probe_;
  LiveCounter::Object object_;
};

class TestSchedule {
 public:
  TestSchedule(Probe* probe, std::deque<TestRunnable>* queue)
      : probe_(probe), queue_(queue), object_(probe->schedulers.Make()) {}

  void operator()(TestRunnable runnable, ScheduleInfo info) {
    ++probe_->schedules;
    if (info.woken_while_running) ++probe_->schedules_while_running;
    queue_->push_back(std::move(runnable));
  }

 private:
  Probe* probe_;
  std::deque<TestRunnable>* queue_;
  LiveCounter::Object object_;
};

class RunnableTest : public testing::Test {
 protected:
  ~RunnableTest() override {
    // Whatever happened, everything is gone in the end.
    queue_.clear();
    probe_.handle.reset();
    probe_.waker = Waker();
    queue_.clear();
    EXPECT_EQ(probe_.futures.live(), 0);
    EXPECT_EQ(probe_.outputs.live(), 0);
    EXPECT_EQ(probe_.schedulers.live(), 0);
    EXPECT_EQ(probe_.metadatas.live(), 0);
    if (probe_.metadatas.made() != 0) {
      EXPECT_EQ(probe_.gones, 1);
    }
  }

  // Makes the task; its first Runnable is in the queue.
  void Make() {
    auto [runnable, handle] = SpawnOn(
        TestFuture(&probe_), TestSchedule(&probe_, &queue_), Metadata(&probe_));
    probe_.handle = std::move(handle);
    queue_.push_back(std::move(runnable));
  }

  // True if the task rescheduled itself.
  bool RunFirst() {
    TestRunnable runnable = std::move(queue_.front());
    queue_.pop_front();
    return std::move(runnable).Run();
  }
  void DropFirst() { queue_.pop_front(); }

  // What a Cancel() future of the handle says, polled once; nullopt: pending.
  std::optional<bool> PollHandle() {
    Context cx(joiner_.waker());
    auto polled = probe_.handle->Poll(cx);
    if (polled.IsPending()) return std::nullopt;
    return true;
  }

  Probe probe_;
  std::deque<TestRunnable> queue_;
  CountingWaker joiner_;
};

// ---- Run ----

TEST_F(RunnableTest, NothingHappensBeforeTheFirstRun) {
  Make();

  EXPECT_EQ(probe_.polls, 0);
  EXPECT_EQ(probe_.schedules, 0);
  EXPECT_EQ(probe_.futures.live(), 1);
}

TEST_F(RunnableTest, RunToTheEndThenJoin) {
  Make();

  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.outputs.live(), 1);
  EXPECT_EQ(probe_.gones, 1);
  EXPECT_EQ(probe_.pendings, 0);
  EXPECT_EQ(probe_.metadatas.live(), 1);

  EXPECT_EQ(PollHandle(), true);
  EXPECT_EQ(probe_.outputs.live(), 0);  // given to the joiner, and dropped
  EXPECT_EQ(probe_.metadatas.live(), 0);
  EXPECT_EQ(probe_.schedulers.live(), 0);
}

TEST_F(RunnableTest, RunToTheEndThenDropTheHandle) {
  Make();
  EXPECT_FALSE(RunFirst());

  probe_.handle.reset();

  EXPECT_EQ(probe_.outputs.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

TEST_F(RunnableTest, DetachedBeforeItRuns) {
  Make();
  std::move(*probe_.handle).Detach();
  EXPECT_EQ(probe_.futures.live(), 1);

  EXPECT_FALSE(RunFirst());

  EXPECT_EQ(probe_.outputs.made(), 1);
  EXPECT_EQ(probe_.outputs.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

TEST_F(RunnableTest, DetachedAfterItRan) {
  Make();
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.outputs.live(), 1);

  std::move(*probe_.handle).Detach();

  EXPECT_EQ(probe_.outputs.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

TEST_F(RunnableTest, ScheduleCallsTheFunction) {
  Make();
  TestRunnable runnable = std::move(queue_.front());
  queue_.clear();

  std::move(runnable).Schedule();

  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_EQ(probe_.schedules_while_running, 0);
  EXPECT_EQ(queue_.size(), 1u);
}

// ---- Wake ----

TEST_F(RunnableTest, WokenBeforeItRunsIsNotScheduledTwice) {
  Make();
  const Waker waker = queue_.front().MakeWaker();

  waker.WakeByRef();
  Waker(waker).Wake();

  EXPECT_EQ(probe_.schedules, 0);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 1);
}

TEST_F(RunnableTest, WokenWhilePendingIsScheduledOnce) {
  probe_.ready_at_poll = 2;
  probe_.keeps_waker = true;
  Make();
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.pendings, 1);
  EXPECT_TRUE(queue_.empty());

  probe_.waker.WakeByRef();
  probe_.waker.WakeByRef();
  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_EQ(probe_.schedules_while_running, 0);

  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 2);
  EXPECT_EQ(probe_.outputs.live(), 1);
}

TEST_F(RunnableTest, WokenByAWakerThatIsConsumed) {
  probe_.ready_at_poll = 2;
  probe_.keeps_waker = true;
  Make();
  EXPECT_FALSE(RunFirst());

  std::move(probe_.waker).Wake();

  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 2);
}

TEST_F(RunnableTest, WokenWhileRunningRunsAgain) {
  probe_.ready_at_poll = 3;
  probe_.wakes_in_poll = true;
  Make();

  EXPECT_TRUE(RunFirst());
  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_EQ(probe_.schedules_while_running, 1);
  EXPECT_EQ(probe_.pendings, 1);
  EXPECT_TRUE(RunFirst());
  EXPECT_EQ(probe_.schedules, 2);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 3);
}

TEST_F(RunnableTest, WokenAfterItsEndStaysDone) {
  probe_.ready_at_poll = 2;
  probe_.keeps_waker = true;
  Make();
  EXPECT_FALSE(RunFirst());
  const Waker late = probe_.waker;
  probe_.waker.WakeByRef();
  EXPECT_FALSE(RunFirst());

  late.WakeByRef();
  Waker(late).Wake();

  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(RunnableTest, AWakerKeepsTheCellButNotTheOutput) {
  Make();
  probe_.waker = queue_.front().MakeWaker();
  EXPECT_FALSE(RunFirst());
  probe_.handle.reset();

  EXPECT_EQ(probe_.outputs.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 1);
  EXPECT_EQ(probe_.schedulers.live(), 1);

  probe_.waker = Waker();
  EXPECT_EQ(probe_.metadatas.live(), 0);
  EXPECT_EQ(probe_.schedulers.live(), 0);
}

// ---- Forgotten: nobody is left who could wake it ----

TEST_F(RunnableTest, ADetachedTaskThatNobodyCanWakeEndsAtOnce) {
  probe_.ready_at_poll = 0;
  Make();
  std::move(*probe_.handle).Detach();

  EXPECT_FALSE(RunFirst());

  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
  EXPECT_EQ(probe_.pendings, 1);
}

TEST_F(RunnableTest, TheLastWakerOfADetachedTaskBringsItHomeToEnd) {
  probe_.ready_at_poll = 0;
  probe_.keeps_waker = true;
  Make();
  std::move(*probe_.handle).Detach();
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.futures.live(), 1);

  probe_.waker = Waker();
  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_EQ(probe_.futures.live(), 1);  // destroyed where it runs, not here

  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 1);
  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

TEST_F(RunnableTest, TheLastWakerThatWakesADetachedTaskRunsIt) {
  probe_.ready_at_poll = 2;
  probe_.keeps_waker = true;
  Make();
  std::move(*probe_.handle).Detach();
  EXPECT_FALSE(RunFirst());

  std::move(probe_.waker).Wake();

  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 2);
  EXPECT_EQ(probe_.outputs.made(), 1);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

TEST_F(RunnableTest, TheLastHandleOfATaskWithoutWakersEndsIt) {
  probe_.ready_at_poll = 0;
  Make();
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.futures.live(), 1);

  std::move(*probe_.handle).Detach();

  EXPECT_EQ(probe_.schedules, 1);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.futures.live(), 0);
}

// ---- Cancel: the handle is dropped ----

TEST_F(RunnableTest, CancelledBeforeItsFirstRunIsNeverPolled) {
  Make();

  probe_.handle.reset();
  EXPECT_EQ(probe_.futures.live(), 1);
  EXPECT_EQ(probe_.schedules, 0);

  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 0);
  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

TEST_F(RunnableTest, CancelledWhilePendingIsScheduledToBeDestroyed) {
  probe_.ready_at_poll = 0;
  probe_.keeps_waker = true;
  Make();
  EXPECT_FALSE(RunFirst());

  probe_.handle.reset();
  EXPECT_EQ(probe_.schedules, 1);
  probe_.waker.WakeByRef();
  EXPECT_EQ(probe_.schedules, 1);

  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 1);
  EXPECT_EQ(probe_.futures.live(), 0);
}

TEST_F(RunnableTest, CancelledWhileScheduled) {
  probe_.ready_at_poll = 0;
  probe_.keeps_waker = true;
  Make();
  EXPECT_FALSE(RunFirst());
  probe_.waker.WakeByRef();

  probe_.handle.reset();
  EXPECT_EQ(probe_.schedules, 1);

  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(probe_.polls, 1);
  EXPECT_EQ(probe_.futures.live(), 0);
}

TEST_F(RunnableTest, CancelledWhileRunningIsDestroyedAfterThePoll) {
  probe_.ready_at_poll = 0;
  probe_.cancels_in_poll = true;
  Make();

  EXPECT_FALSE(RunFirst());

  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.schedules, 0);
  EXPECT_EQ(probe_.gones, 1);
}

TEST_F(RunnableTest, CancelledAndWokenWhileRunningIsNotScheduledAgain) {
  probe_.ready_at_poll = 0;
  probe_.cancels_in_poll = true;
  probe_.wakes_in_poll = true;
  Make();

  EXPECT_FALSE(RunFirst());

  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.schedules, 0);
}

TEST_F(RunnableTest, CancelledAfterItsEndChangesNothing) {
  Make();
  EXPECT_FALSE(RunFirst());

  probe_.handle.reset();

  EXPECT_EQ(probe_.schedules, 0);
  EXPECT_EQ(probe_.outputs.live(), 0);
}

// ---- A Runnable that is dropped ----

TEST_F(RunnableTest, DroppedBeforeItsFirstRunDestroysTheFuture) {
  Make();

  DropFirst();

  EXPECT_EQ(probe_.polls, 0);
  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.gones, 1);
  EXPECT_TRUE(probe_.handle->IsFinished());
}

TEST_F(RunnableTest, DroppedAfterARunDestroysTheFuture) {
  probe_.ready_at_poll = 0;
  probe_.keeps_waker = true;
  Make();
  EXPECT_FALSE(RunFirst());
  probe_.waker.WakeByRef();

  DropFirst();

  EXPECT_EQ(probe_.futures.live(), 0);
  probe_.waker.WakeByRef();
  EXPECT_EQ(probe_.schedules, 1);
}

TEST_F(RunnableTest, DroppedWakesTheJoiner) {
  Make();
  EXPECT_EQ(PollHandle(), std::nullopt);

  DropFirst();

  EXPECT_EQ(joiner_.wakes(), 1);
  EXPECT_EQ(joiner_.outstanding(), 0);
}

TEST_F(RunnableTest, DroppedAfterTheHandleWasDetached) {
  Make();
  std::move(*probe_.handle).Detach();

  DropFirst();

  EXPECT_EQ(probe_.futures.live(), 0);
  EXPECT_EQ(probe_.metadatas.live(), 0);
}

// ---- Join wakers ----

TEST_F(RunnableTest, TheEndWakesTheJoinerOnce) {
  probe_.ready_at_poll = 2;
  probe_.keeps_waker = true;
  Make();
  EXPECT_EQ(PollHandle(), std::nullopt);
  EXPECT_EQ(PollHandle(), std::nullopt);
  EXPECT_EQ(joiner_.clones(), 1);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(joiner_.wakes(), 0);

  probe_.waker.WakeByRef();
  EXPECT_FALSE(RunFirst());

  EXPECT_EQ(joiner_.wakes(), 1);
  EXPECT_EQ(joiner_.outstanding(), 0);
  EXPECT_EQ(PollHandle(), true);
}

TEST_F(RunnableTest, ADroppedHandleForgetsItsJoiner) {
  Make();
  EXPECT_EQ(PollHandle(), std::nullopt);
  EXPECT_EQ(joiner_.outstanding(), 1);

  probe_.handle.reset();

  EXPECT_EQ(joiner_.outstanding(), 0);
  EXPECT_FALSE(RunFirst());
  EXPECT_EQ(joiner_.wakes(), 0);
}

// ---- Metadata, raw pointers, budgets ----

TEST_F(RunnableTest, CarriesItsMetadata) {
  Make();

  EXPECT_EQ(queue_.front().metadata().probe, &probe_);
  EXPECT_FALSE(RunFirst());
}

TEST(RunnableMetadataTest, MayBeAnyValue) {
  auto [runnable, handle] =
      SpawnOn(Ready(1), [](Runnable<std::string>) {}, std::string("lane 1"));

  EXPECT_EQ(runnable.metadata(), "lane 1");
  runnable.metadata() = "lane 2";
  EXPECT_EQ(runnable.metadata(), "lane 2");
  std::move(runnable).Run();
}

// A queue of one, which gives up what is cancelled.
struct QueueOfOne {
  struct Metadata {
    QueueOfOne* queue;
    void OnCancel() {
      ++queue->cancels;
      queue->waiting.reset();
    }
  };

  std::optional<Runnable<Metadata>> waiting;
  int cancels = 0;
};

TEST(RunnableMetadataTest, OnCancelMayDestroyATaskThatWaits) {
  LiveCounter counter;
  QueueOfOne queue;
  auto spawned = SpawnOn(
      Ready(counter.Make()), [](Runnable<QueueOfOne::Metadata>) {},
      QueueOfOne::Metadata{&queue});
  queue.waiting.emplace(std::move(spawned.runnable));
  CountingWaker waker;
  Context cx(waker.waker());

  auto cancel = std::move(spawned.handle).Cancel();
  EXPECT_TRUE(cancel.Poll(cx).IsReady());

  EXPECT_EQ(queue.cancels, 1);
  EXPECT_EQ(counter.live(), 0);
}

TEST(RunnableMetadataTest, OnCancelIsNotCalledForAHandleThatLetsGo) {
  QueueOfOne queue;
  const auto spawn = [&queue] {
    return SpawnOn(
        Ready(1), [](Runnable<QueueOfOne::Metadata>) {},
        QueueOfOne::Metadata{&queue});
  };
  auto detached = spawn();
  std::move(detached.handle).Detach();
  auto awaited = spawn();
  std::move(awaited.runnable).Run();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(awaited.handle.Poll(cx).IsReady());
  EXPECT_EQ(queue.cancels, 0);
}

TEST(RunnableRefuseTest, TheOutcomeSaysSo) {
  LiveCounter counter;
  auto spawned = SpawnOn(Ready(counter.Make()), [](Runnable<>) {});
  const std::string id = std::to_string(spawned.handle.id().value());
  std::move(spawned.runnable).Refuse();
  EXPECT_EQ(counter.live(), 0);
  CountingWaker waker;
  Context cx(waker.waker());

  auto outcome = std::move(spawned.handle).Outcome();
  auto polled = outcome.Poll(cx);

  ASSERT_TRUE(polled.IsReady());
  const std::string status = (*std::move(polled)).status().ToString();
  EXPECT_EQ(status.find("RESOURCE_EXHAUSTED: task " + id + " was refused"), 0u)
      << status;
}

TEST(RunnableRefuseTest, WithoutAHandleItIsDestroyed) {
  LiveCounter counter;
  auto spawned = SpawnOn(Ready(counter.Make()), [](Runnable<>) {});
  std::move(spawned.handle).Detach();
  std::move(spawned.runnable).Refuse();
  EXPECT_EQ(counter.live(), 0);
}

TEST(RunnableRefuseDeathTest, AwaitingItSaysWhatToDo) {
  auto spawned = SpawnOn(Ready(1), [](Runnable<>) {});
  std::move(spawned.runnable).Refuse();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_DEATH(static_cast<void>(spawned.handle.Poll(cx)),
               "was refused.*Outcome");
}

TEST_F(RunnableTest, TravelsThroughAPointer) {
  Make();
  TestRunnable runnable = std::move(queue_.front());
  queue_.clear();

  void* raw = std::move(runnable).IntoRaw();
  EXPECT_EQ(probe_.futures.live(), 1);

  std::move(TestRunnable::FromRaw(raw)).Run();
  EXPECT_EQ(probe_.polls, 1);
  EXPECT_TRUE(probe_.handle->IsFinished());
}

TEST_F(RunnableTest, MovesAndAssigns) {
  Probe other;
  Make();
  TestRunnable a = std::move(queue_.front());
  queue_.clear();
  auto [b, handle] = SpawnOn(TestFuture(&other), TestSchedule(&other, &queue_),
                             Metadata(&other));

  a = std::move(b);  // swaps
  std::move(a).Run();
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_FALSE(probe_.handle->IsFinished());
  {
    const TestRunnable dropped = std::move(b);
  }
  EXPECT_TRUE(probe_.handle->IsFinished());
}

TEST(RunnableBudgetTest, RunGivesTheBudget) {
  uint32_t seen = 0;
  auto look = PollFn([&seen](Context& cx) {
    seen = cx.budget()->units();
    return Polled<void>(Unit());
  });
  auto [runnable, handle] = SpawnOn(std::move(look), [](Runnable<>) {});

  std::move(runnable).Run(/*budget=*/7);

  EXPECT_EQ(seen, 7u);
}

// ---- Schedule functions ----

// The first Runnable may be run and the cell freed while the schedule function
// is still busy.
TEST(RunnableScheduleTest, MayRunTheTaskAtOnce) {
  LiveCounter counter;
  auto schedule = [object = counter.Make()](Runnable<> runnable) {
    std::move(runnable).Run();
    const LiveCounter::Object still_alive = object;
    static_cast<void>(still_alive);
  };
  auto [runnable, handle] = SpawnOn(Ready(), std::move(schedule));
  std::move(handle).Detach();

  std::move(runnable).Schedule();

  EXPECT_EQ(counter.live(), 0);
}

TEST(RunnableScheduleTest, MayDropTheTaskAtOnce) {
  LiveCounter counter;
  auto schedule = [object = counter.Make()](Runnable<> runnable) {
    {
      const Runnable<> dropped = std::move(runnable);
    }
    const LiveCounter::Object still_alive = object;
    static_cast<void>(still_alive);
  };
  auto [runnable, handle] = SpawnOn(Ready(), std::move(schedule));
  std::move(handle).Detach();

  std::move(runnable).Schedule();

  EXPECT_EQ(counter.live(), 0);
}

TEST(RunnableScheduleTest, MayBeTrivial) {
  static int scheduled = 0;
  auto schedule = [](Runnable<> runnable) {
    ++scheduled;
    std::move(runnable).Run();
  };
  static_assert(std::is_trivially_copyable_v<decltype(schedule)>);
  auto [runnable, handle] = SpawnOn(Ready(), schedule);

  std::move(runnable).Schedule();

  EXPECT_EQ(scheduled, 1);
  EXPECT_TRUE(handle.IsFinished());
}

// A task that wakes itself under a schedule function that runs at once.
TEST(RunnableScheduleTest, MayRunATaskThatYields) {
  int depth = 0;
  auto schedule = [&depth](Runnable<> runnable) {
    ++depth;
    std::move(runnable).Run();
    --depth;
  };
  auto yield = []() -> Task<int> {
    for (int i = 0; i < 10; ++i) co_await YieldNow();
    co_return 10;
  };
  auto [runnable, handle] = SpawnOn(yield(), schedule);

  std::move(runnable).Schedule();

  EXPECT_EQ(depth, 0);
  EXPECT_TRUE(handle.IsFinished());
}

// A task whose poll runs tasks of its own: each of their yields wakes it.
TEST(RunnableScheduleTest, MayWakeTheTaskThatRunsTheTask) {
  std::deque<Runnable<>> inner;
  Waker outer_waker;
  auto yield = []() -> Task<> {
    for (int i = 0; i < 10; ++i) co_await YieldNow();
  };
  auto [inner_runnable, inner_handle] = SpawnOn(yield(), [&](Runnable<> r) {
    inner.push_back(std::move(r));
    outer_waker.WakeByRef();
  });
  inner.push_back(std::move(inner_runnable));
  std::deque<Runnable<>> outer;
  auto [outer_runnable, outer_handle] =
      SpawnOn(PollFn([&](Context& cx) -> Polled<void> {
                outer_waker = cx.waker();
                Runnable<> first = std::move(inner.front());
                inner.pop_front();
                std::move(first).Run();
                if (inner_handle.IsFinished()) return Unit();
                return kPending;
              }),
              [&](Runnable<> r) { outer.push_back(std::move(r)); });
  outer.push_back(std::move(outer_runnable));

  while (!outer.empty()) {
    Runnable<> first = std::move(outer.front());
    outer.pop_front();
    std::move(first).Run();
  }

  EXPECT_TRUE(outer_handle.IsFinished());
}

// ---- Unusual futures ----

struct alignas(64) OverAligned {
  using Output = OverAligned;
  Polled<OverAligned> Poll(Context&) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(this) % 64, 0u);
    return OverAligned{};
  }
  char bytes[64] = {};
};

TEST(RunnableFutureTest, MayBeOverAligned) {
  auto [runnable, handle] = SpawnOn(OverAligned(), [](Runnable<>) {});
  std::move(runnable).Run();

  Context cx(NoopWaker());
  EXPECT_TRUE(handle.Poll(cx).IsReady());
}

TEST(RunnableFutureTest, MayGiveAReference) {
  int number = 1;
  auto refer = PollFn([&number](Context&) { return Polled<int&>(number); });
  auto [runnable, handle] = SpawnOn(std::move(refer), [](Runnable<>) {});
  std::move(runnable).Run();

  Context cx(NoopWaker());
  EXPECT_EQ(&*handle.Poll(cx), &number);
}

TEST(RunnableFutureTest, MayBeLarge) {
  struct Large {
    using Output = int;
    Polled<int> Poll(Context&) { return bytes[99'999]; }
    char bytes[100'000] = {};
  };
  auto [runnable, handle] = SpawnOn(Large(), [](Runnable<>) {});
  std::move(runnable).Run();

  Context cx(NoopWaker());
  EXPECT_EQ(*handle.Poll(cx), 0);
}

// Wakes and drops wakers of its own task while it is being destroyed.
class WakesWhenDestroyed {
 public:
  using Output = void;
  WakesWhenDestroyed() = default;
  WakesWhenDestroyed(WakesWhenDestroyed&&) = default;
  ~WakesWhenDestroyed() {
    waker_.WakeByRef();
    std::move(waker_).Wake();
  }
  Polled<void> Poll(Context& cx) {
    waker_ = cx.waker();
    return kPending;
  }

 private:
  Waker waker_;
};

TEST(RunnableFutureTest, MayWakeItselfWhileItIsDestroyed) {
  int scheduled = 0;
  std::optional<Runnable<>> slot;
  auto schedule = [&](Runnable<> runnable) {
    ++scheduled;
    slot.emplace(std::move(runnable));
  };
  {
    auto [runnable, handle] = SpawnOn(WakesWhenDestroyed(), schedule);
    std::move(runnable).Run();
    EXPECT_EQ(scheduled, 0);
  }
  EXPECT_EQ(scheduled, 1);  // to be destroyed
  std::move(*slot).Run();
  EXPECT_EQ(scheduled, 1);
}

// Owns its own handle, and so drops it while it is being destroyed.
TEST(RunnableFutureTest, MayOwnItsOwnHandle) {
  LiveCounter counter;
  std::deque<Runnable<>> queue;
  auto slot = std::make_shared<std::optional<JoinHandle<>>>();
  auto wait = [](std::shared_ptr<std::optional<JoinHandle<>>> slot,
                 LiveCounter::Object) -> Task<> {
    JoinHandle<> self = *std::exchange(*slot, std::nullopt);
    co_await self;  // for ever
  };
  auto [runnable, handle] =
      SpawnOn(wait(slot, counter.Make()),
              [&queue](Runnable<> r) { queue.push_back(std::move(r)); });
  slot->emplace(std::move(handle));
  const Waker waker = runnable.MakeWaker();

  std::move(runnable).Run();
  EXPECT_EQ(counter.live(), 1);
  waker.WakeByRef();
  queue.clear();

  EXPECT_EQ(counter.live(), 0);
}

// ---- Cost ----

TEST(RunnableCostTest, OneAllocation) {
  struct Odd {  // too large to be kept
    char bytes[600] = {};
  };
  const size_t before = GetFrameCacheStats().blocks_from_allocator;
  {
    auto [runnable, handle] = SpawnOn(Ready(), [](Runnable<Odd>) {}, Odd());
    std::move(runnable).Run();
  }
  EXPECT_EQ(GetFrameCacheStats().blocks_from_allocator, before + 1);
}

// The cell asks the coroutines of weft alone to come into the cache.
struct HasPrefetch {
  using Output = void;
  Polled<void> Poll(Context&) { return kPending; }
  void Prefetch() { ++*calls; }

  int* calls;
};

TEST(RunnableCostTest, AUsersPrefetchIsNotCalled) {
  int calls = 0;
  auto [runnable, handle] = SpawnOn(HasPrefetch{&calls}, [](Runnable<>) {});
  std::move(runnable).Schedule();

  EXPECT_EQ(calls, 0);
}

// ---- Bound to a thread ----

class LocalRunnableTest : public testing::Test {
 protected:
  // The future tells which thread destroys it.
  class Local {
   public:
    using Output = void;
    explicit Local(LocalRunnableTest* test)
        : test_(test), object_(test->futures_.Make()) {}
    Local(Local&& other) noexcept
        : test_(std::exchange(other.test_, nullptr)),
          object_(std::move(other.object_)) {}
    ~Local() {
      if (test_ != nullptr) test_->destroyed_on_ = std::this_thread::get_id();
    }
    Polled<void> Poll(Context& cx) {
      test_->waker_ = cx.waker();
      return kPending;
    }

   private:
    LocalRunnableTest* test_;
    LiveCounter::Object object_;
  };

  auto SpawnLocal() {
    return SpawnLocalOn(Local(this), [this](Runnable<> runnable) {
      ++scheduled_;
      home_.push_back(std::move(runnable));
    });
  }

  LiveCounter futures_;
  std::deque<Runnable<>> home_;
  int scheduled_ = 0;
  Waker waker_;
  std::thread::id destroyed_on_;
};

TEST_F(LocalRunnableTest, RunsAtHome) {
  auto [runnable, handle] = SpawnLocal();
  std::move(runnable).Run();

  std::thread([&] { waker_.WakeByRef(); }).join();

  ASSERT_EQ(home_.size(), 1u);
  std::move(home_.front()).Run();
  home_.clear();
  EXPECT_EQ(futures_.live(), 1);
  std::thread([&, h = std::move(handle)]() mutable {
    {
      const JoinHandle<> dropped = std::move(h);
    }
  }).join();
  ASSERT_EQ(home_.size(), 1u);
  EXPECT_EQ(futures_.live(), 1);
  std::move(home_.front()).Run();
  EXPECT_EQ(futures_.live(), 0);
  EXPECT_EQ(destroyed_on_, std::this_thread::get_id());
  waker_ = Waker();
}

TEST_F(LocalRunnableTest, DroppedOnAForeignThreadIsPostedHome) {
  auto [runnable, handle] = SpawnLocal();
  std::thread([&, r = std::move(runnable)]() mutable {
    {
      const Runnable<> dropped = std::move(r);
    }
  }).join();

  EXPECT_EQ(scheduled_, 1);
  EXPECT_EQ(futures_.live(), 1);
  ASSERT_EQ(home_.size(), 1u);
  std::move(home_.front()).Run();
  EXPECT_EQ(futures_.live(), 0);
  EXPECT_EQ(destroyed_on_, std::this_thread::get_id());
  EXPECT_TRUE(handle.IsFinished());
}

TEST_F(LocalRunnableTest, DroppedAtHomeIsDestroyedAtOnce) {
  auto [runnable, handle] = SpawnLocal();
  {
    const Runnable<> dropped = std::move(runnable);
  }
  EXPECT_EQ(scheduled_, 0);
  EXPECT_EQ(futures_.live(), 0);
}

TEST_F(LocalRunnableTest, ManyDroppedAtOnceOnAForeignThread) {
  std::vector<Runnable<>> runnables;
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 10; ++i) {
    auto [runnable, handle] = SpawnLocal();
    runnables.push_back(std::move(runnable));
    handles.push_back(std::move(handle));
  }
  std::thread([&] { runnables.clear(); }).join();

  EXPECT_EQ(home_.size(), 10u);
  home_.clear();
  EXPECT_EQ(futures_.live(), 0);
}

TEST_F(LocalRunnableTest, RunElsewhereIsAMistake) {
  auto [runnable, handle] = SpawnLocal();
  auto run = [&] { std::thread([&] { std::move(runnable).Run(); }).join(); };
  EXPECT_DEATH(run(), "run it on the thread that spawned it");
}

}  // namespace
}  // namespace weft
