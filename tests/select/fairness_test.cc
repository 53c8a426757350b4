// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Of two futures that are ready, each wins half of the time, in all that take
// the first of several; and with Biased() the first one always.

#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "weft/select/race.h"
#include "weft/select/race_range.h"
#include "weft/select/select.h"
#include "weft/select/select_range.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

// Ready with its number, or never.
struct Number {
  using Output = int;

  Polled<int> Poll(Context&) {
    return number >= 0 ? Polled<int>(number) : Polled<int>(kPending);
  }

  int number = -1;
};

// `count` futures of which two in the middle are ready, with 0 and 1.
std::vector<Number> TwoReady(size_t count) {
  std::vector<Number> numbers(count);
  numbers[count / 2 - 1].number = 0;
  numbers[count / 2].number = 1;
  return numbers;
}

class FairnessTest : public testing::Test {
 protected:
  FairnessTest() { environment_.random = &random_; }

  // How often, in percent, play() gives 1.
  template <class Play>
  double PercentOfOnes(Play play, int rounds = 100'000) {
    if (std::getenv("WEFT_LONG") != nullptr) rounds *= 10;
    int ones = 0;
    for (int i = 0; i < rounds; ++i) ones += play();
    return 100.0 * ones / rounds;
  }
  void ExpectFair(double percent) {
    EXPECT_GT(percent, 45);
    EXPECT_LT(percent, 55);
  }

  Random random_{4711};
  Environment environment_;
  Context cx_{NoopWaker(), nullptr, &environment_};
};

TEST_F(FairnessTest, OfRace) {
  ExpectFair(
      PercentOfOnes([&] { return *Race(Ready(0), Ready(1)).Poll(cx_); }));
  EXPECT_EQ(PercentOfOnes(
                [&] { return *Race(Biased(), Ready(0), Ready(1)).Poll(cx_); }),
            0);
}

TEST_F(FairnessTest, OfSelect) {
  ExpectFair(PercentOfOnes([&] {
    return static_cast<int>((*Select(Ready(0), Ready(1)).Poll(cx_)).index());
  }));
}

TEST_F(FairnessTest, OfSelectWithHandlers) {
  ExpectFair(PercentOfOnes([&] {
    return *Select(On(Ready(), [] { return 0; }), On(Ready(), [] { return 1; }))
                .Poll(cx_);
  }));
}

TEST_F(FairnessTest, OfRangesOfTwo) {
  ExpectFair(PercentOfOnes([&] { return *Race(TwoReady(2)).Poll(cx_); }));
  ExpectFair(
      PercentOfOnes([&] { return (*Select(TwoReady(2)).Poll(cx_)).value; }));
}

// Also where a random start would favour one that stands behind many others.
TEST_F(FairnessTest, OfLongRanges) {
  for (const size_t count : {9, 64}) {
    const int rounds = static_cast<int>(200'000 / count);
    ExpectFair(PercentOfOnes([&] { return *Race(TwoReady(count)).Poll(cx_); },
                             rounds));
    ExpectFair(PercentOfOnes(
        [&] { return (*Select(TwoReady(count)).Poll(cx_)).value; }, rounds));
  }
  EXPECT_EQ(PercentOfOnes(
                [&] { return *Race(Biased(), TwoReady(9)).Poll(cx_); }, 1'000),
            0);
}

}  // namespace
}  // namespace weft
