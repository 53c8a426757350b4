// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Exceptions of user code on their way through tasks.

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

// Counts the copies of itself.
class Oops : public std::runtime_error {
 public:
  explicit Oops(LiveCounter::Object object)
      : std::runtime_error("oops"), object_(std::move(object)) {}

 private:
  LiveCounter::Object object_;
};

class TaskExceptionTest : public testing::Test {
 protected:
  ~TaskExceptionTest() override { EXPECT_EQ(counter_.live(), 0); }

  std::exception_ptr MakeOops() {
    return std::make_exception_ptr(Oops(counter_.Make()));
  }
  template <class F>
  auto Poll(F& future) {
    Context cx(waker_.waker());
    return future.Poll(cx);
  }

  LiveCounter counter_;
  CountingWaker waker_;
  Signal signal_;
};

Task<int> WaitOn(Signal* signal) { co_return co_await signal->Wait(); }

Task<int> Nest(int depth, Signal* signal) {
  if (depth == 0) co_return co_await signal->Wait();
  co_return co_await Nest(depth - 1, signal);
}

// Waits; -1 if the wait throws, and then goes on waiting once more.
Task<int> CatchAndWaitAgain(Signal* signal) {
  bool caught = false;
  try {
    co_return co_await signal->Wait();
  } catch (const Oops&) {
    caught = true;
  }
  if (!caught) co_return 0;
  co_return -1 - co_await signal->Wait();
}

TEST_F(TaskExceptionTest, FromAFirstPollIsCaughtInTheCoroutine) {
  signal_.Fail(MakeOops());
  Task<int> task = CatchAndWaitAgain(&signal_);

  EXPECT_TRUE(Poll(task).IsPending());
  signal_.Set(4);
  EXPECT_EQ(*Poll(task), -5);
}

TEST_F(TaskExceptionTest, FromALaterPollIsCaughtInTheCoroutine) {
  Task<int> task = CatchAndWaitAgain(&signal_);
  EXPECT_TRUE(Poll(task).IsPending());

  signal_.Fail(MakeOops());
  EXPECT_TRUE(Poll(task).IsPending());
  EXPECT_EQ(counter_.live(), 0);  // handled, and so gone
  signal_.Set(4);
  EXPECT_EQ(*Poll(task), -5);
}

TEST_F(TaskExceptionTest, ThatNobodyCatchesComesOutOfPoll) {
  Task<int> task = Nest(10, &signal_);
  EXPECT_TRUE(Poll(task).IsPending());

  signal_.Fail(MakeOops());
  EXPECT_THROW(static_cast<void>(Poll(task)), Oops);
}

TEST_F(TaskExceptionTest, PassesThroughManyLevels) {
  Task<int> task = Nest(10'000, &signal_);
  EXPECT_TRUE(Poll(task).IsPending());

  signal_.Fail(MakeOops());
  EXPECT_THROW(static_cast<void>(Poll(task)), Oops);
}

TEST_F(TaskExceptionTest, IsCaughtHalfWayUp) {
  auto catching = [](Signal* signal) -> Task<int> {
    int result = 0;
    try {
      result = co_await Nest(5, signal);
    } catch (const Oops&) {
      result = -1;
    }
    co_await YieldNow();
    co_return result;
  };
  auto outer = [](Task<int> inner) -> Task<int> {
    co_return 10 + co_await std::move(inner);
  };
  Task<int> task = outer(catching(&signal_));
  EXPECT_TRUE(Poll(task).IsPending());

  signal_.Fail(MakeOops());
  EXPECT_TRUE(Poll(task).IsPending());
  EXPECT_EQ(*Poll(task), 9);
}

TEST_F(TaskExceptionTest, FromANamedTaskIsCaughtToo) {
  auto outer = [](Signal* signal) -> Task<int> {
    Task<int> task = Nest(3, signal);
    try {
      co_return co_await task;
    } catch (const Oops&) {
      co_return -1;
    }
  };
  Task<int> task = outer(&signal_);
  EXPECT_TRUE(Poll(task).IsPending());

  signal_.Fail(MakeOops());
  EXPECT_EQ(*Poll(task), -1);
}

// The leaf is polled again where a started task becomes part of another, and
// throws at that moment.
TEST_F(TaskExceptionTest, FromThePollThatAdoptsATask) {
  auto outer = [](Signal* signal, std::exception_ptr oops) -> Task<int> {
    Task<int> task = Nest(3, signal);
    static_cast<void>(co_await PollOnce(task));
    signal->Fail(std::move(oops));
    try {
      co_return co_await std::move(task);
    } catch (const Oops&) {
      co_return -1;
    }
  };
  Task<int> task = outer(&signal_, MakeOops());

  EXPECT_EQ(*Poll(task), -1);
}

TEST_F(TaskExceptionTest, OfTheCoroutineItselfAtItsFirstStep) {
  auto throwing = [](LiveCounter::Object object) -> Task<> {
    throw Oops(std::move(object));
    co_return;
  };
  Task<> task = throwing(counter_.Make());
  EXPECT_THROW(static_cast<void>(Poll(task)), Oops);

  auto outer = [](Task<> inner) -> Task<bool> {
    try {
      co_await std::move(inner);
    } catch (const Oops&) {
      co_return true;
    }
    co_return false;
  };
  Task<bool> catching = outer(throwing(counter_.Make()));
  EXPECT_TRUE(*Poll(catching));
}

TEST_F(TaskExceptionTest, ThatIsNotAStdException) {
  auto throwing = []() -> Task<int> {
    co_await YieldNow();
    throw 7;
  };
  auto outer = [](Task<int> inner) -> Task<int> {
    try {
      co_return co_await std::move(inner);
    } catch (int n) {
      co_return -n;
    }
  };
  Task<int> task = outer(throwing());
  EXPECT_TRUE(Poll(task).IsPending());
  EXPECT_EQ(*Poll(task), -7);
}

TEST_F(TaskExceptionTest, DestroysTheLocalsOnItsWay) {
  auto outer = [](LiveCounter::Object object, Signal* signal) -> Task<int> {
    const std::vector<LiveCounter::Object> locals(3, object);
    co_return co_await Nest(2, signal);
  };
  std::optional<Task<int>> task = outer(counter_.Make(), &signal_);
  EXPECT_TRUE(Poll(*task).IsPending());
  EXPECT_EQ(counter_.live(), 4);

  signal_.Fail(MakeOops());
  EXPECT_THROW(static_cast<void>(Poll(*task)), Oops);
  task.reset();
}

// An output whose move or conversion throws counts as thrown by the task.
struct ThrowsWhenMoved {
  explicit ThrowsWhenMoved(int moves) : moves(moves) {}
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : moves(other.moves - 1) {
    if (moves < 0) throw 7;
  }
  int moves;
};

TEST_F(TaskExceptionTest, OfAnOutputThatCannotBeMoved) {
  for (int moves = 0; moves < 8; ++moves) {
    auto make = [](int moves) -> Task<ThrowsWhenMoved> {
      co_return ThrowsWhenMoved(moves);
    };
    auto outer = [](Task<ThrowsWhenMoved> inner) -> Task<int> {
      try {
        const ThrowsWhenMoved result = co_await std::move(inner);
        co_return result.moves;
      } catch (int n) {
        co_return -n;
      }
    };
    Task<int> task = outer(make(moves));
    const int result = *Poll(task);
    EXPECT_TRUE(result == -7 || result >= 0) << result;
  }
}

struct ThrowsWhenConverted {
  operator std::string() const { throw 7; }  // NOLINT: implicit
};

// The destructor of a local may throw when the output is stored already.
TEST_F(TaskExceptionTest, AfterCoReturnDestroysTheOutput) {
  struct ThrowsWhenItGoes {
    ~ThrowsWhenItGoes() noexcept(false) { throw Oops(counter->Make()); }
    LiveCounter* counter;
  };
  auto returning = [](LiveCounter* counter) -> Task<LiveCounter::Object> {
    const ThrowsWhenItGoes local{counter};
    co_return counter->Make();
  };
  {
    Task<LiveCounter::Object> task = returning(&counter_);
    EXPECT_THROW(static_cast<void>(Poll(task)), Oops);
    EXPECT_EQ(counter_.live(), 0);
  }
  auto awaiting = [](Task<LiveCounter::Object> inner) -> Task<> {
    co_await std::move(inner);
  };
  Task<> outer = awaiting(returning(&counter_));
  EXPECT_THROW(static_cast<void>(Poll(outer)), Oops);
}

TEST_F(TaskExceptionTest, OfAConversionToTheOutput) {
  auto make = []() -> Task<std::string> { co_return ThrowsWhenConverted(); };
  Task<std::string> task = make();

  EXPECT_THROW(static_cast<void>(Poll(task)), int);
}

TEST_F(TaskExceptionTest, InALoopEachIsCaughtAndFreed) {
  auto looping = [](LiveCounter* counter) -> Task<int> {
    int caught = 0;
    for (int i = 0; i < 1000; ++i) {
      auto throwing = [](LiveCounter* counter) -> Task<> {
        co_await YieldNow();
        throw Oops(counter->Make());
      };
      try {
        co_await throwing(counter);
      } catch (const Oops&) {
        ++caught;
      }
    }
    co_return caught;
  };
  Task<int> task = looping(&counter_);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(Poll(task).IsPending());
    EXPECT_EQ(counter_.live(), 0);
  }
  EXPECT_EQ(*Poll(task), 1000);
}

// A pending task that is dropped while an exception is on its way elsewhere.
TEST_F(TaskExceptionTest, DropsTasksWhileUnwinding) {
  auto outer = [](LiveCounter::Object object, Signal* signal) -> Task<> {
    Task<int> pending = WaitOn(signal);
    static_cast<void>(co_await PollOnce(pending));
    throw Oops(std::move(object));
  };
  Task<> task = outer(counter_.Make(), &signal_);

  EXPECT_THROW(static_cast<void>(Poll(task)), Oops);
  EXPECT_FALSE(signal_.HasWaiter());
}

TEST_F(TaskExceptionTest, CountsAsReady) {
  Task<int> task = WaitOn(&signal_);
  signal_.Fail(MakeOops());
  EXPECT_THROW(static_cast<void>(Poll(task)), Oops);

  EXPECT_DEATH(static_cast<void>(Poll(task)), "polled after it was ready");
}

}  // namespace
}  // namespace weft
