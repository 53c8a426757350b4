// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/wheel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/random.h"

namespace weft::timer_internal {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::vector<int64_t> PopAllDue(Wheel& wheel) {
  std::vector<int64_t> deadlines;
  while (WheelEntry* entry = wheel.PopDue()) {
    deadlines.push_back(entry->deadline);
  }
  return deadlines;
}

TEST(WheelTest, HandsOutWhatIsDueAndNothingElse) {
  Wheel wheel(0);
  WheelEntry a;
  WheelEntry b;
  a.deadline = 1000;
  b.deadline = 2000;
  ASSERT_TRUE(wheel.Insert(a));
  ASSERT_TRUE(wheel.Insert(b));

  wheel.Advance(999);
  EXPECT_EQ(wheel.PopDue(), nullptr);
  wheel.Advance(1000);
  EXPECT_EQ(wheel.PopDue(), &a);
  EXPECT_EQ(wheel.PopDue(), nullptr);
  EXPECT_EQ(wheel.size(), 1u);
  wheel.Advance(kMax);
  EXPECT_EQ(wheel.PopDue(), &b);
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(WheelTest, RefusesWhatIsDueAlready) {
  Wheel wheel(100);
  WheelEntry entry;
  entry.deadline = 100;
  EXPECT_FALSE(wheel.Insert(entry));
  entry.deadline = kMin;
  EXPECT_FALSE(wheel.Insert(entry));
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(WheelTest, OrdersByDeadlineThenByInsertion) {
  Wheel wheel(0);
  std::vector<int64_t> deadlines = {70, 5, 300, 5, 70, 4097, 5, 299, 70};
  std::vector<WheelEntry> entries(deadlines.size());
  for (size_t i = 0; i < deadlines.size(); ++i) {
    entries[i].deadline = deadlines[i];
    ASSERT_TRUE(wheel.Insert(entries[i]));
  }

  wheel.Advance(1'000'000);
  std::vector<size_t> order;
  while (WheelEntry* entry = wheel.PopDue()) {
    order.push_back(static_cast<size_t>(entry - entries.data()));
  }
  EXPECT_EQ(order, (std::vector<size_t>{1, 3, 6, 0, 4, 8, 7, 2, 5}));
}

TEST(WheelTest, EqualDeadlinesStayInOrderWhenTimePassesBetweenInsertions) {
  constexpr int64_t kDeadline = 1'000'000'007;
  Wheel wheel(0);
  std::vector<WheelEntry> entries(100);
  int64_t now = 0;
  for (WheelEntry& entry : entries) {
    entry.deadline = kDeadline;
    ASSERT_TRUE(wheel.Insert(entry));
    now += (kDeadline - now) / 7;
    wheel.Advance(now);
    ASSERT_EQ(wheel.PopDue(), nullptr);
  }

  wheel.Advance(kDeadline);
  for (WheelEntry& entry : entries) EXPECT_EQ(wheel.PopDue(), &entry);
}

TEST(WheelTest, RemovesWhatIsDueButNotYetHandedOut) {
  Wheel wheel(0);
  std::vector<WheelEntry> entries(3);
  for (int i = 0; i < 3; ++i) {
    entries[i].deadline = i + 1;
    ASSERT_TRUE(wheel.Insert(entries[i]));
  }
  wheel.Advance(10);
  wheel.Remove(entries[1]);
  EXPECT_EQ(PopAllDue(wheel), (std::vector<int64_t>{1, 3}));
}

TEST(WheelTest, CoversAllOfInt64) {
  const std::vector<int64_t> deadlines = {
      kMin + 1, kMin + 2,         -(int64_t{1} << 32), -1,       0,
      1,        int64_t{1} << 32, kMax / 10,           kMax - 1, kMax};
  Wheel wheel(kMin);
  std::vector<WheelEntry> entries(deadlines.size());
  for (size_t i = deadlines.size(); i-- > 0;) {
    entries[i].deadline = deadlines[i];
    ASSERT_TRUE(wheel.Insert(entries[i]));
  }

  for (size_t i = 0; i < deadlines.size(); ++i) {
    EXPECT_EQ(wheel.NextExpiry(), deadlines[i]);
    wheel.Advance(deadlines[i] - 1);
    EXPECT_EQ(wheel.PopDue(), nullptr);
    wheel.Advance(deadlines[i]);
    EXPECT_EQ(wheel.PopDue(), &entries[i]);
  }
  EXPECT_EQ(wheel.NextExpiry(), kMax);
}

TEST(WheelTest, ManyInOneSlotAreLookedAtFromItsBeginning) {
  Wheel wheel(0);
  std::vector<WheelEntry> entries(1000);
  for (size_t i = 0; i < entries.size(); ++i) {
    // All in [2^24, 2^24 + 2^20): one slot of level 4.
    entries[i].deadline = (int64_t{1} << 24) + 5000 + static_cast<int64_t>(i);
    ASSERT_TRUE(wheel.Insert(entries[i]));
  }
  EXPECT_EQ(wheel.NextDeadline(), entries[0].deadline);
  EXPECT_LE(wheel.NextExpiry(), entries[0].deadline);
  EXPECT_GT(wheel.NextExpiry(), wheel.elapsed());

  // Going there takes a few steps, each later than the last.
  int steps = 0;
  while (wheel.PopDue() == nullptr) {
    ASSERT_GT(wheel.NextExpiry(), wheel.elapsed());
    wheel.Advance(wheel.NextExpiry());
    ASSERT_LE(++steps, 11);
  }
  EXPECT_EQ(wheel.elapsed(), entries[0].deadline);
}

TEST(WheelTest, ManyThatAreDueTogetherComeInOrder) {
  constexpr int kEntries = 20'000;
  constexpr uint64_t kSeed = 3;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  for (uint32_t spread : {1u, 1000u, 1u << 20, 1u << 31}) {
    Random random(kSeed);
    Wheel wheel(0);
    std::vector<WheelEntry> entries(kEntries);
    std::vector<WheelEntry*> expected;
    for (WheelEntry& entry : entries) {
      entry.deadline = (int64_t{1} << 40) + random.Below(spread);
      ASSERT_TRUE(wheel.Insert(entry));
      expected.push_back(&entry);
    }
    std::sort(expected.begin(), expected.end(),
              [](const WheelEntry* a, const WheelEntry* b) {
                return std::pair(a->deadline, a) < std::pair(b->deadline, b);
              });

    // In two steps, the first of which ends in the middle.
    std::vector<WheelEntry*> order;
    for (int64_t now : {expected[kEntries / 2]->deadline, kMax}) {
      wheel.Advance(now);
      while (WheelEntry* entry = wheel.PopDue()) {
        ASSERT_LE(entry->deadline, now);
        order.push_back(entry);
      }
    }
    EXPECT_EQ(order, expected);
  }
}

// Wheel operations, mirrored in a std::multimap, which keeps equal keys in
// order of insertion.
class Mirror {
 public:
  explicit Mirror(uint64_t seed) : random_(seed) {}

  void Step() {
    const uint32_t what = random_.Below(100);
    if (what < 45) {
      Insert();
    } else if (what < 60) {
      Remove();
    } else if (what < 75) {
      Reset();
    } else if (what < 95) {
      PopSome();
    } else {
      Advance();
    }
    CheckNext();
  }

  void Drain() {
    wheel_.Advance(kMax);
    now_ = kMax;
    while (!live_.empty()) PopOne();
    EXPECT_EQ(wheel_.PopDue(), nullptr);
    EXPECT_EQ(wheel_.size(), 0u);
  }

 private:
  using Reference = std::multimap<int64_t, WheelEntry*>;

  // Distances of every magnitude, many of them equal.
  int64_t Distance() {
    const uint64_t distance = random_.Next() >> (1 + random_.Below(63));
    return static_cast<int64_t>(
        random_.Below(3) == 0 ? distance & ~uint64_t{0xff} : distance);
  }
  int64_t Later() {
    int64_t time;
    if (__builtin_add_overflow(now_, Distance(), &time)) return kMax;
    return time;
  }
  Reference::iterator Any() {
    auto at = live_.lower_bound(Later());
    return at == live_.end() ? live_.begin() : at;
  }

  void Add(WheelEntry* entry) {
    entry->deadline = Later();
    const bool inserted = wheel_.Insert(*entry);
    ASSERT_EQ(inserted, entry->deadline > now_);
    if (inserted) {
      live_.emplace(entry->deadline, entry);
    } else {
      free_.push_back(entry);
    }
  }
  void Insert() {
    if (free_.empty()) {
      entries_.push_back(std::make_unique<WheelEntry>());
      free_.push_back(entries_.back().get());
    }
    WheelEntry* entry = free_.back();
    free_.pop_back();
    Add(entry);
  }
  void Remove() {
    if (live_.empty()) return;
    auto at = Any();
    wheel_.Remove(*at->second);
    free_.push_back(at->second);
    live_.erase(at);
  }
  void Reset() {
    if (live_.empty()) return;
    auto at = Any();
    WheelEntry* entry = at->second;
    wheel_.Remove(*entry);
    live_.erase(at);
    Add(entry);
  }
  void PopOne() {
    WheelEntry* entry = wheel_.PopDue();
    ASSERT_EQ(entry, live_.begin()->second);
    live_.erase(live_.begin());
    free_.push_back(entry);
  }
  void PopSome() {
    for (uint32_t i = random_.Below(8); i > 0; --i) {
      if (live_.empty() || live_.begin()->first > now_) {
        ASSERT_EQ(wheel_.PopDue(), nullptr);
        return;
      }
      PopOne();
    }
  }
  // To some moment, or exactly to the next deadline, or just before it. Slow
  // enough not to run out of time.
  void Advance() {
    int64_t to = Later();
    const uint32_t what = random_.Below(4);
    if (what != 0 && !live_.empty() && live_.begin()->first > now_) {
      to = live_.begin()->first - (what == 1 ? 1 : 0);
    } else if (to - now_ > (int64_t{1} << 46)) {
      return;
    }
    wheel_.Advance(to);
    now_ = std::max(now_, to);
  }
  void CheckNext() {
    const int64_t first = live_.empty() ? kMax : live_.begin()->first;
    ASSERT_EQ(wheel_.size(), live_.size());
    ASSERT_LE(wheel_.NextExpiry(), first);
    ASSERT_TRUE(first <= now_ || wheel_.NextExpiry() > now_);
    if (random_.Below(64) == 0) {
      ASSERT_EQ(wheel_.NextDeadline(), first);
    }
  }

  Random random_;
  int64_t now_ = -(int64_t{1} << 40);
  Wheel wheel_{now_};
  Reference live_;
  std::vector<std::unique_ptr<WheelEntry>> entries_;
  std::vector<WheelEntry*> free_;
};

TEST(WheelTest, AMillionRandomOperationsEqualASortedReference) {
  const bool is_long = std::getenv("WEFT_LONG") != nullptr;
  constexpr int kOperations = 1'000'000;
  for (uint64_t seed = 1; seed <= (is_long ? 50u : 1u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Mirror mirror(seed);
    for (int i = 0; i < kOperations; ++i) {
      mirror.Step();
      if (testing::Test::HasFatalFailure()) return;
    }
    mirror.Drain();
  }
}

}  // namespace
}  // namespace weft::timer_internal
