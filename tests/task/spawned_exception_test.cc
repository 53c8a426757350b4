// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Exceptions of spawned tasks: to the handle, or to the unhandled handler.

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/current_task.h"
#include "weft/task/environment.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/join_result.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/offload.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/task_local.h"
#include "weft/task/unhandled_exception.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/thread_offload.h"

namespace weft {
namespace {

struct Oops {
  LiveCounter::Object object;
};

// A number on the heap.
class Number {
 public:
  Number(int value) : value_(std::make_unique<int>(value)) {}  // NOLINT
  operator int() const { return *value_; }                     // NOLINT

 private:
  std::unique_ptr<int> value_;
};

// Its output has a destructor, which must not run when there is none.
Task<Number> Throw(LiveCounter::Object object, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  throw Oops{std::move(object)};
}

class CollectingHandler final : public UnhandledExceptionHandler {
 public:
  void OnUnhandledException(std::exception_ptr exception) override {
    ++count;
    last = std::move(exception);
    task = CurrentTaskName();
  }
  int count = 0;
  std::string task;  // the name of the one that threw last
  std::exception_ptr last;
};

class SpawnedExceptionTest : public testing::TestWithParam<int> {
 protected:
  SpawnedExceptionTest() {
    environment_.unhandled_exception = &handler_;
    scope_.emplace(environment_);
  }
  ~SpawnedExceptionTest() override {
    handler_.last = nullptr;
    EXPECT_EQ(counter_.live(), 0);
  }
  Task<Number> MakeThrowing() { return Throw(counter_.Make(), GetParam()); }

  LiveCounter counter_;
  CollectingHandler handler_;
  Environment environment_;
  std::optional<EnvironmentScope> scope_;
};

INSTANTIATE_TEST_SUITE_P(Polls, SpawnedExceptionTest, testing::Values(0, 1));

TEST_P(SpawnedExceptionTest, IsRethrownByTheHandle) {
  ManualExecutor executor;
  JoinHandle<Number> handle = executor.Spawn(MakeThrowing());
  executor.RunUntilIdle();

  EXPECT_TRUE(handle.IsFinished());
  EXPECT_THROW(executor.Run(handle), Oops);
  EXPECT_EQ(counter_.live(), 0);
  EXPECT_EQ(handler_.count, 0);
}

TEST_P(SpawnedExceptionTest, IsRethrownByOutcomeAndByCancel) {
  ManualExecutor executor;
  JoinHandle<Number> a = executor.Spawn(MakeThrowing());
  JoinHandle<Number> b = executor.Spawn(MakeThrowing());
  executor.RunUntilIdle();

  EXPECT_THROW(static_cast<void>(executor.Run(std::move(a).Outcome())), Oops);
  EXPECT_THROW(static_cast<void>(executor.Run(std::move(b).Cancel())), Oops);
}

TEST_P(SpawnedExceptionTest, IsCaughtByTheTaskThatAwaits) {
  ManualExecutor executor;
  auto parent = [](JoinHandle<Number> child) -> Task<int> {
    try {
      co_return co_await child;
    } catch (const Oops&) {
      co_return -1;
    }
  };
  JoinHandle<int> handle =
      executor.Spawn(parent(executor.Spawn(MakeThrowing())));

  EXPECT_EQ(executor.Run(handle), -1);
}

TEST_P(SpawnedExceptionTest, OfADetachedTaskGoesToTheHandler) {
  ManualExecutor executor;
  executor.Spawn(MakeThrowing()).Detach();

  executor.RunUntilIdle();

  EXPECT_EQ(handler_.count, 1);
  EXPECT_THROW(std::rethrow_exception(handler_.last), Oops);
}

TEST_P(SpawnedExceptionTest, DetachedAfterTheEndGoesThereToo) {
  ManualExecutor executor;
  JoinHandle<Number> handle = executor.Spawn(MakeThrowing());
  executor.RunUntilIdle();
  EXPECT_EQ(handler_.count, 0);

  std::move(handle).Detach();

  EXPECT_EQ(handler_.count, 1);
}

class ThrowingHandler final : public UnhandledExceptionHandler {
 public:
  void OnUnhandledException(std::exception_ptr exception) override {
    std::rethrow_exception(exception);
  }
};

using SpawnedExceptionDeathTest = SpawnedExceptionTest;

INSTANTIATE_TEST_SUITE_P(Polls, SpawnedExceptionDeathTest,
                         testing::Values(0, 1));

// It would be thrown through the executor, into code that knows nothing of it.
TEST_P(SpawnedExceptionDeathTest, AHandlerThatThrowsEndsTheProgram) {
  ThrowingHandler handler;
  Environment environment;
  environment.unhandled_exception = &handler;
  const EnvironmentScope scope(environment);
  ManualExecutor executor;
  JoinHandle<Number> handle = executor.Spawn(MakeThrowing());
  executor.RunUntilIdle();

  EXPECT_DEATH(std::move(handle).Detach(), "terminate called");
  EXPECT_DEATH(
      {
        executor.Spawn(MakeThrowing()).Detach();
        executor.RunUntilIdle();
      },
      "terminate called");
}

TEST(ScheduleFunctionDeathTest, OneThatThrowsEndsTheProgram) {
  bool throws = false;
  auto spawned = SpawnOn(Pending<>(), [&throws](Runnable<>) {
    if (throws) throw std::runtime_error("no room");
  });
  const Waker waker = spawned.runnable.MakeWaker();
  std::move(spawned.runnable).Run();

  EXPECT_DEATH(
      {
        throws = true;
        waker.WakeByRef();
      },
      "terminate called");
}

TEST_P(SpawnedExceptionTest, OfADroppedHandleIsDropped) {
  ManualExecutor executor;
  {
    const JoinHandle<Number> handle = executor.Spawn(MakeThrowing());
  }
  executor.RunUntilIdle();
  EXPECT_EQ(counter_.live(), 0);
  {
    const JoinHandle<Number> handle = executor.Spawn(MakeThrowing());
    executor.RunUntilIdle();
  }
  EXPECT_EQ(counter_.live(), 0);
  EXPECT_EQ(handler_.count, 0);
}

TEST_P(SpawnedExceptionTest, IsPartOfTheResult) {
  {
    ManualExecutor executor;
    const JoinResult<Number> result =
        executor.Run(executor.Spawn(MakeThrowing()).Result());

    EXPECT_FALSE(result.has_value());
    EXPECT_FALSE(result.IsCancelled());
    EXPECT_THROW(std::rethrow_exception(result.exception()), Oops);
  }
  EXPECT_EQ(counter_.live(), 0);
}

// Whether it is detached before or after it throws.
TEST_P(SpawnedExceptionTest, TheHandlerSeesWhichTaskThrew) {
  ManualExecutor executor;
  const SpawnBuilder named = SpawnBuilder().Name("a").On(executor.spawner());
  named.Spawn(MakeThrowing()).Detach();
  executor.RunUntilIdle();
  EXPECT_EQ(std::exchange(handler_.task, ""), "a");

  JoinHandle<Number> handle = named.Spawn(MakeThrowing());
  executor.RunUntilIdle();
  std::move(handle).Detach();
  EXPECT_EQ(handler_.count, 2);
  EXPECT_EQ(handler_.task, "a");
  EXPECT_EQ(CurrentTaskName(), "");
}

TEST_P(SpawnedExceptionTest, TheExecutorGoesOn) {
  ManualExecutor executor;
  const JoinHandle<Number> throwing = executor.Spawn(MakeThrowing());
  auto fine = []() -> Task<int> { co_return 7; };
  JoinHandle<int> other = executor.Spawn(fine());

  EXPECT_EQ(executor.Drain(), 0u);
  EXPECT_EQ(executor.Run(other), 7);
}

TEST_P(SpawnedExceptionTest, ComesOutOfBlockOn) {
  EXPECT_THROW(BlockOn(MakeThrowing()), Oops);
  // The thread may block again afterwards.
  EXPECT_EQ(BlockOn(Ready(7)), 7);
}

TEST_P(SpawnedExceptionTest, OfABlockingJobComesToItsHandle) {
  ThreadOffload offload;
  auto job = [object = counter_.Make()]() -> int { throw Oops{object}; };
  JoinHandle<int> handle = offload.Run(OffloadLane::kGeneral, std::move(job));

  EXPECT_THROW(BlockOn(handle), Oops);
  offload.Join();
}

TEST(InvokeExceptionTest, OfTheFunctionItself) {
  auto future = Invoke([]() -> ReadyFuture<int> { throw 7; });
  Context cx(NoopWaker());

  EXPECT_THROW(static_cast<void>(future.Poll(cx)), int);
}

// A scope that an exception leaves is left, also where the task goes on.
TEST(TaskLocalExceptionTest, PutsBackWhatWasThere) {
  constinit static TaskLocal<int> local;
  auto fail = []() -> Task<> {
    EXPECT_EQ(local.Get(), 8);
    co_await YieldNow();
    throw 7;
  };
  auto outer = [=]() -> Task<int> {
    try {
      auto scope = local.Scope(8, fail());
      co_await scope;
    } catch (int) {
    }
    const int after_scope = local.Get();
    try {
      local.Call(9, [] { throw 7; });
    } catch (int) {
    }
    co_return after_scope * 10 + local.Get();
  };
  EXPECT_EQ(BlockOn(local.Scope(5, Invoke(outer))), 55);
  EXPECT_EQ(local.TryGet(), nullptr);
}

TEST(TaskLocalExceptionTest, OfACopyComesToWhoeverSpawns) {
  struct ThrowsWhenCopied {
    ThrowsWhenCopied() = default;
    ThrowsWhenCopied(ThrowsWhenCopied&&) = default;
    ThrowsWhenCopied(const ThrowsWhenCopied&) { throw 7; }
  };
  constinit static TaskLocal<ThrowsWhenCopied> throwing;
  constinit static TaskLocal<LiveCounter::Object> counted;
  LiveCounter counter;
  throwing.Call(ThrowsWhenCopied(), [&] {
    counted.Call(counter.Make(), [&] {
      const SpawnBuilder heir = SpawnBuilder().InheritLocals();
      EXPECT_THROW(static_cast<void>(heir.Extras()), int);
      EXPECT_EQ(counter.live(), 1);  // the one that is set
    });
  });
  EXPECT_EQ(counter.live(), 0);
}

TEST(UnhandledExceptionTest, WithoutAHandlerIsDescribedAndTheProgramGoesOn) {
  testing::internal::CaptureStderr();

  task_internal::ReportUnhandledException(
      std::make_exception_ptr(std::runtime_error("the reason")));
  task_internal::ReportUnhandledException(std::make_exception_ptr(7));

  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("the reason"), std::string::npos) << text;
  EXPECT_NE(text.find("not a std::exception"), std::string::npos) << text;
}

TEST(UnhandledExceptionTest, OfABlockingJobSaysThatItIsOne) {
  ThreadOffload offload;
  testing::internal::CaptureStderr();
  JoinHandle<> job = offload.Run(OffloadLane::kGeneral, [] { throw 7; });
  const std::string id = std::to_string(job.id().value());

  std::move(job).Detach();
  offload.Join();

  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("a detached blocking job " + id), std::string::npos)
      << text;
}

// The move of a future into its task throws: nothing is left behind.
TEST(SpawnExceptionTest, OfAFutureThatCannotBeMoved) {
  LiveCounter counter;
  class Future {
   public:
    using Output = void;
    explicit Future(LiveCounter::Object object) : object_(std::move(object)) {}
    Future(Future&& other) : object_(other.object_), moves_(other.moves_ + 1) {
      if (moves_ == 1) throw 7;
    }
    Polled<void> Poll(Context&) { return Unit(); }

   private:
    LiveCounter::Object object_;
    int moves_ = 0;
  };

  EXPECT_THROW(
      static_cast<void>(SpawnOn(Future(counter.Make()), [](Runnable<>) {})),
      int);
  EXPECT_EQ(counter.live(), 0);
}

}  // namespace
}  // namespace weft
