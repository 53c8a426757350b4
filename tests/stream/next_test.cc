// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/stream/next.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

using testing::ElementsAre;

// Gives 1 to `count`, each after one pending poll.
class Counter {
 public:
  using Item = std::unique_ptr<int>;

  explicit Counter(int count) : count_(count) {}

  Polled<std::optional<Item>> PollNext(Context& cx) {
    waited_ = !waited_;
    if (waited_) {
      cx.waker().WakeByRef();
      return kPending;
    }
    if (given_ == count_) return std::optional<Item>();
    return std::optional<Item>(std::make_unique<int>(++given_));
  }

 private:
  const int count_;
  int given_ = 0;
  bool waited_ = false;
};

static_assert(Stream<Counter>);
static_assert(Future<NextFuture<Counter>>);
static_assert(kMovableAfterPoll<NextFuture<Counter>>);

Task<std::vector<int>> Drain(Counter* counter) {
  std::vector<int> items;
  while (std::optional<std::unique_ptr<int>> item = co_await Next(*counter)) {
    items.push_back(**item);
  }
  co_return items;
}

TEST(NextTest, GivesItemsUntilTheEnd) {
  Counter counter(3);

  EXPECT_THAT(BlockOn(Drain(&counter)), ElementsAre(1, 2, 3));
}

TEST(NextTest, DroppingLosesNoItem) {
  Counter counter(2);
  Context cx(NoopWaker());
  {
    auto next = Next(counter);
    EXPECT_TRUE(next.Poll(cx).IsPending());
    auto moved = std::move(next);
    static_cast<void>(moved);
  }

  EXPECT_EQ(***Next(counter).Poll(cx), 1);
}

TEST(NextTest, SurvivesADropAtEveryPoll) {
  std::unique_ptr<Counter> counter;
  auto factory = [&] {
    counter = std::make_unique<Counter>(2);
    return Drain(counter.get());
  };

  EXPECT_THAT(DropAtEveryPoll(factory), IsOkAndHolds(4));
}

}  // namespace
}  // namespace weft
