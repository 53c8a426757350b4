// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/child_set.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft::select_internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What a child does in each of its polls, beside being pending.
enum class Does { kNothing, kWake, kKeepWaker };

struct Slot final : Child {
  int number = 0;
  Does does = Does::kNothing;
  Waker kept;
};

class ChildSetTest : public testing::Test {
 protected:
  ChildSetTest() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].number = static_cast<int>(i);
    }
  }

  // The children that a Run() polls, in order.
  std::vector<int> Run(Context cx, size_t max_polls = 100) {
    std::vector<int> polled;
    EXPECT_FALSE(set_.Run(cx, max_polls, [&](Child& child) {
      Slot& slot = static_cast<Slot&>(child);
      polled.push_back(slot.number);
      return set_
          .Poll(slot, cx,
                [&](Context& inner) -> Polled<void> {
                  if (slot.does == Does::kWake) inner.waker().WakeByRef();
                  if (slot.does == Does::kKeepWaker &&
                      !slot.kept.WillWake(inner.waker())) {
                    slot.kept = inner.waker();
                  }
                  return kPending;
                })
          .IsReady();
    }));
    return polled;
  }
  std::vector<int> Run(size_t max_polls = 100) {
    return Run(Context(owner_.waker()), max_polls);
  }

  CountingWaker owner_;
  std::array<Slot, 3> slots_;
  ChildSet set_;
};

TEST_F(ChildSetTest, PollsNewChildrenOnce) {
  for (Slot& slot : slots_) set_.Add(slot);

  EXPECT_THAT(Run(), ElementsAre(0, 1, 2));
  EXPECT_THAT(Run(), IsEmpty());

  EXPECT_EQ(owner_.wakes(), 0);
}

TEST_F(ChildSetTest, PollsInTheOrderOfWakes) {
  for (Slot& slot : slots_) {
    slot.does = Does::kKeepWaker;
    set_.Add(slot);
  }
  Run();

  for (const int i : {2, 0, 1, 2, 0}) slots_[i].kept.WakeByRef();

  EXPECT_EQ(owner_.wakes(), 1);
  EXPECT_THAT(Run(), ElementsAre(2, 0, 1));
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(ChildSetTest, AWakeBetweenWakeAndPollIsTheSameOne) {
  slots_[0].does = Does::kKeepWaker;
  slots_[1].does = Does::kKeepWaker;
  set_.Add(slots_[0]);
  set_.Add(slots_[1]);
  Run();
  slots_[0].kept.WakeByRef();
  slots_[1].kept.WakeByRef();
  EXPECT_THAT(Run(/*max_polls=*/1), ElementsAre(0));

  slots_[1].kept.WakeByRef();  // is in the queue

  EXPECT_THAT(Run(), ElementsAre(1));
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(ChildSetTest, EndsAfterSoManyPollsAndWakesItsOwner) {
  for (Slot& slot : slots_) slot.does = Does::kWake;
  for (Slot& slot : slots_) set_.Add(slot);

  EXPECT_THAT(Run(/*max_polls=*/2), ElementsAre(0, 1));
  EXPECT_EQ(owner_.TakeWakes(), 1);
  EXPECT_THAT(Run(/*max_polls=*/4), ElementsAre(2, 0, 1, 2));
  EXPECT_EQ(owner_.TakeWakes(), 1);
}

TEST_F(ChildSetTest, AChildThatWakesItselfDoesNotKeepTheTurn) {
  slots_[0].does = Does::kWake;
  slots_[1].does = Does::kKeepWaker;
  set_.Add(slots_[0]);
  set_.Add(slots_[1]);
  EXPECT_THAT(Run(/*max_polls=*/2), ElementsAre(0, 1));

  slots_[1].kept.WakeByRef();

  EXPECT_THAT(Run(/*max_polls=*/2), ElementsAre(0, 1));
}

TEST_F(ChildSetTest, ASpentBudgetPollsNobodyAndLosesNobody) {
  set_.Add(slots_[0]);
  Budget budget(0);

  EXPECT_THAT(Run(Context(owner_.waker(), &budget)), IsEmpty());
  EXPECT_EQ(owner_.TakeWakes(), 1);
  EXPECT_THAT(Run(), ElementsAre(0));
  EXPECT_THAT(Run(Context(owner_.waker(), &budget)), IsEmpty());

  EXPECT_EQ(owner_.TakeWakes(), 0);  // there is nothing to do
}

TEST_F(ChildSetTest, AddWakesAnOwnerThatSleeps) {
  Run();
  EXPECT_TRUE(set_.parked());

  set_.Add(slots_[0]);
  set_.Add(slots_[1]);

  EXPECT_EQ(owner_.wakes(), 1);
  EXPECT_THAT(Run(), ElementsAre(0, 1));
}

TEST_F(ChildSetTest, ARetiredChildIsNotPolledAndItsWakersWakeNobody) {
  slots_[0].does = Does::kKeepWaker;
  set_.Add(slots_[0]);
  Run();
  slots_[0].kept.WakeByRef();
  EXPECT_EQ(owner_.TakeWakes(), 1);

  slots_[0].Retire();

  EXPECT_THAT(Run(), IsEmpty());
  std::exchange(slots_[0].kept, Waker()).Wake();
  EXPECT_EQ(owner_.wakes(), 1);
}

TEST_F(ChildSetTest, KnowsWhetherSomebodyHasAWaker) {
  slots_[0].does = Does::kKeepWaker;
  set_.Add(slots_[0]);
  EXPECT_FALSE(slots_[0].IsWatched());
  Run();
  EXPECT_TRUE(slots_[0].IsWatched());

  slots_[0].kept.WakeByRef();
  EXPECT_TRUE(slots_[0].IsWatched());
  slots_[0].kept = Waker();

  EXPECT_FALSE(slots_[0].IsWatched());
}

}  // namespace
}  // namespace weft::select_internal
