// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What combinators do with a branch that throws.

#include <array>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/select/catch.h"
#include "weft/select/fuse.h"
#include "weft/select/futures_ordered.h"
#include "weft/select/futures_unordered.h"
#include "weft/select/join.h"
#include "weft/select/join_ok.h"
#include "weft/select/join_ok_range.h"
#include "weft/select/join_range.h"
#include "weft/select/map.h"
#include "weft/select/race.h"
#include "weft/select/race_range.h"
#include "weft/select/select.h"
#include "weft/select/select_range.h"
#include "weft/select/shared.h"
#include "weft/select/then.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

std::exception_ptr Error(const std::string& what) {
  return std::make_exception_ptr(std::runtime_error(what));
}

// What polling `future` until it is ready throws; empty if it gives an output.
template <class F>
std::string WhatItThrows(F future, Context& cx) {
  try {
    for (int polls = 0; polls < 10; ++polls) {
      if (future.Poll(cx).IsReady()) return "";
    }
    return "pending";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

class ExceptionsTest : public testing::Test {
 protected:
  ExceptionsTest() { environment_.random = &random_; }

  Random random_{4711};
  Environment environment_;
  Context cx_{NoopWaker(), nullptr, &environment_};
};

// Each of three branches is ready, pending or throws, at its first or second
// poll.
TEST_F(ExceptionsTest, TruthTableOfBiasedSelectAndRace) {
  for (int code = 0; code < 5 * 5 * 5; ++code) {
    for (const bool race : {false, true}) {
      std::array<Script, 3> scripts;
      int expected = -1;
      for (int i = 0, c = code; i < 3; ++i, c /= 5) {
        Script& script = scripts[i];
        script.pending = c % 5 == 4 ? Script::kForever : c % 5 / 2;
        if (c % 2 == 0) script.exception = Error(std::to_string(i));
        if (c % 5 != 4 &&
            (expected < 0 || script.pending < scripts[expected].pending)) {
          expected = i;
        }
      }

      const std::string thrown =
          race ? WhatItThrows(Race(Biased(), scripts[0].Make(),
                                   scripts[1].Make(), scripts[2].Make()),
                              cx_)
               : WhatItThrows(Select(Biased(), scripts[0].Make(),
                                     scripts[1].Make(), scripts[2].Make()),
                              cx_);

      if (expected < 0) {
        EXPECT_EQ(thrown, "pending");
      } else {
        EXPECT_EQ(thrown,
                  scripts[expected].exception ? std::to_string(expected) : "")
            << code;
      }
      for (const Script& script : scripts) EXPECT_EQ(script.live, 0);
    }
  }
}

TEST_F(ExceptionsTest, TheOthersAreDroppedBeforeItLeaves) {
  Script loser{.pending = Script::kForever};
  Script thrower{.pending = 1, .exception = Error("x")};
  auto select = Select(loser.Make(), thrower.Make());
  auto race = Race(loser.Make(), thrower.Make());
  auto handlers =
      Select(On(loser.Make(), [](int) {}), On(thrower.Make(), [](int) {}));
  auto join = Join(loser.Make(), thrower.Make(), Ready(1));
  EXPECT_TRUE(select.Poll(cx_).IsPending());
  EXPECT_EQ(loser.live, 4);
  EXPECT_EQ(thrower.live, 4);

  EXPECT_THROW(static_cast<void>(select.Poll(cx_).IsReady()),
               std::runtime_error);
  EXPECT_EQ(loser.live, 3);
  EXPECT_THROW(static_cast<void>(race.Poll(cx_).IsReady()), std::runtime_error);
  EXPECT_EQ(loser.live, 2);
  EXPECT_THROW(static_cast<void>(handlers.Poll(cx_).IsReady()),
               std::runtime_error);
  EXPECT_EQ(loser.live, 1);
  EXPECT_THROW(static_cast<void>(join.Poll(cx_).IsReady()), std::runtime_error);

  EXPECT_EQ(loser.live, 0);
  EXPECT_EQ(thrower.live, 0);
}

TEST_F(ExceptionsTest, ANamedBranchOutlivesAnotherOnesException) {
  Script script{.pending = 1, .value = 5};
  auto named = script.Make();
  Script thrower{.exception = Error("x")};

  EXPECT_EQ(WhatItThrows(Select(Biased(), named, thrower.Make()), cx_), "x");

  EXPECT_EQ(*named.Poll(cx_), 5);
}

TEST_F(ExceptionsTest, AThrowingHandlerIsRethrown) {
  auto select =
      Select(On(Ready(), [] { throw std::runtime_error("handler"); }));

  EXPECT_EQ(WhatItThrows(std::move(select), cx_), "handler");
}

TEST_F(ExceptionsTest, ADisabledBranchDoesNotThrow) {
  Script thrower{.exception = Error("x")};
  auto select = Select(OnIf(false, thrower.Make(), [](int) {}), Else([] {}));

  EXPECT_EQ(WhatItThrows(std::move(select), cx_), "");
  EXPECT_EQ(thrower.live, 0);
}

TEST_F(ExceptionsTest, ASetLosesOnlyTheFutureThatThrows) {
  Script thrower{.exception = Error("x")};
  Script other{.value = 7};
  FuturesUnordered<Script::Future> set;
  set.Push(thrower.Make());
  set.Push(other.Make());

  EXPECT_EQ(WhatItThrows(set.Next(), cx_), "x");

  EXPECT_EQ(thrower.live, 0);
  EXPECT_EQ(set.size(), 1u);
  EXPECT_EQ(*set.PollNext(cx_), 7);
}

TEST_F(ExceptionsTest, AnOrderedSetThrowsInItsTurn) {
  Script first{.value = 1};
  Script thrower{.exception = Error("x")};
  Script last{.value = 3};
  FuturesOrdered<Script::Future> set;
  set.Push(first.Make());
  set.Push(thrower.Make());
  set.Push(last.Make());

  EXPECT_EQ(*set.PollNext(cx_), 1);
  EXPECT_EQ(WhatItThrows(set.Next(), cx_), "x");
  EXPECT_EQ(*set.PollNext(cx_), 3);

  EXPECT_TRUE(set.empty());
  EXPECT_EQ(thrower.live, 0);
}

TEST_F(ExceptionsTest, TheOthersOfARangeAreDroppedBeforeItLeaves) {
  for (const int size : {2, 9, 100}) {
    Script loser{.pending = Script::kForever};
    Script thrower{.exception = Error("x")};
    const auto make = [&] {
      std::vector<Script::Future> futures;
      for (int i = 1; i < size; ++i) futures.push_back(loser.Make());
      futures.push_back(thrower.Make());
      return futures;
    };
    auto race = Race(make());
    auto select = Select(make());
    auto join = Join(make());

    EXPECT_THROW(static_cast<void>(race.Poll(cx_).IsReady()),
                 std::runtime_error);
    EXPECT_EQ(loser.live, 2 * (size - 1));
    EXPECT_THROW(static_cast<void>(select.Poll(cx_).IsReady()),
                 std::runtime_error);
    EXPECT_EQ(loser.live, size - 1);
    EXPECT_THROW(static_cast<void>(join.Poll(cx_).IsReady()),
                 std::runtime_error);

    EXPECT_EQ(loser.live, 0);
    EXPECT_EQ(thrower.live, 0);
  }
}

// Of a future that gives a Status.
struct Checked {
  using Output = absl::Status;
  Polled<absl::Status> Poll(Context& cx) {
    if (future.Poll(cx).IsPending()) return kPending;
    return absl::OkStatus();
  }
  Script::Future future;
};

TEST_F(ExceptionsTest, JoinOkThrowsWhatAFutureThrows) {
  Script loser{.pending = Script::kForever};
  Script thrower{.exception = Error("x")};
  std::vector<Checked> futures;
  futures.push_back(Checked{loser.Make()});
  futures.push_back(Checked{thrower.Make()});

  EXPECT_EQ(WhatItThrows(JoinOk(std::move(futures)), cx_), "x");
  EXPECT_EQ(
      WhatItThrows(JoinOk(Checked{loser.Make()}, Checked{thrower.Make()}), cx_),
      "x");

  EXPECT_EQ(loser.live + thrower.live, 0);
}

TEST_F(ExceptionsTest, CatchGivesWhatItsHandlerReturns) {
  Script thrower{.pending = 1, .exception = Error("x")};
  auto caught = Catch(thrower.Make(), [&](std::exception_ptr error) {
    EXPECT_EQ(thrower.live, 0);
    return error != nullptr ? 5 : 0;
  });
  EXPECT_TRUE(caught.Poll(cx_).IsPending());

  EXPECT_EQ(*caught.Poll(cx_), 5);

  auto rethrown = Catch(thrower.Make(), [](std::exception_ptr error) -> int {
    std::rethrow_exception(error);
  });
  EXPECT_EQ(WhatItThrows(std::move(rethrown), cx_), "x");
}

TEST_F(ExceptionsTest, AFusedFutureThatHasThrownIsPendingForEver) {
  Script thrower{.exception = Error("x")};
  auto fused = Fuse(thrower.Make());

  EXPECT_THROW(static_cast<void>(fused.Poll(cx_).IsReady()),
               std::runtime_error);

  EXPECT_TRUE(fused.IsTerminated());
  EXPECT_EQ(thrower.live, 0);
  EXPECT_TRUE(fused.Poll(cx_).IsPending());
}

TEST_F(ExceptionsTest, MapAndThenThrowWhatEitherFutureThrows) {
  Script thrower{.exception = Error("x")};

  EXPECT_EQ(WhatItThrows(Map(thrower.Make(), [](int) {}), cx_), "x");
  EXPECT_EQ(
      WhatItThrows(Then(thrower.Make(), [](int) { return Ready(); }), cx_),
      "x");
  EXPECT_EQ(WhatItThrows(Then(Ready(), [&] { return thrower.Make(); }), cx_),
            "x");

  EXPECT_EQ(thrower.live, 0);
}

TEST_F(ExceptionsTest, EachCopyOfASharedFutureThrows) {
  Script thrower{.exception = Error("x")};
  auto first = Shared(thrower.Make());
  auto second = first;

  EXPECT_EQ(WhatItThrows(std::move(first), cx_), "x");
  EXPECT_EQ(thrower.live, 0);
  EXPECT_EQ(WhatItThrows(std::move(second), cx_), "x");

  EXPECT_EQ(thrower.polls, 1);
}

TEST_F(ExceptionsTest, ASharedFutureThatThrowsWakesWhoeverWaits) {
  Signal signal;
  auto first = Shared(signal.Wait());
  auto second = first;
  CountingWaker waker;
  Context other(waker.waker());
  EXPECT_TRUE(first.Poll(cx_).IsPending());
  EXPECT_TRUE(second.Poll(other).IsPending());

  signal.Fail(Error("x"));
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_THROW(static_cast<void>(first.Poll(cx_).IsReady()),
               std::runtime_error);

  EXPECT_THROW(static_cast<void>(second.Poll(other).IsReady()),
               std::runtime_error);
}

Task<int> Failing() {
  co_await YieldNow();
  throw std::runtime_error("inside");
}

TEST_F(ExceptionsTest, ATaskCatchesWhatABranchThrows) {
  auto task = []() -> Task<std::string> {
    std::string caught;
    try {
      auto winner = co_await Select(Failing(), Pending<int>());
      static_cast<void>(winner);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    try {
      auto all = co_await Join(Failing(), Ready(2));
      static_cast<void>(all);
    } catch (const std::runtime_error& error) {
      caught += error.what();
    }
    co_return caught;
  };

  EXPECT_EQ(BlockOn(task()), "insideinside");
}

}  // namespace
}  // namespace weft
