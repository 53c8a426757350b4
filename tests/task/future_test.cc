// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/future.h"

#include <concepts>
#include <optional>
#include <type_traits>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {
namespace {

struct GivesInt {
  using Output = int;
  Polled<int> Poll(Context&);
};
struct GivesReference {
  using Output = int&;
  static constexpr bool kMovableAfterPoll = true;
  Polled<int&> Poll(Context&);
};
struct GivesItems {
  using Item = int;
  Polled<std::optional<int>> PollNext(Context&);
};
struct WithoutOutput {
  Polled<int> Poll(Context&);
};
struct OfAnotherType {
  using Output = long;
  Polled<int> Poll(Context&);
};
struct NotPollable {
  using Output = int;
};
struct PolledWhenConst {
  using Output = void;
  Polled<void> Poll(Context&) const;
};

TEST(FutureTest, IsWhatCanBePolled) {
  static_assert(Future<GivesInt>);
  static_assert(Future<GivesReference>);
  static_assert(Future<PolledWhenConst>);
  static_assert(!Future<WithoutOutput>);
  static_assert(!Future<OfAnotherType>);
  static_assert(!Future<NotPollable>);
  static_assert(!Future<GivesItems>);
  static_assert(!Future<int>);
  static_assert(!Future<GivesInt&>);
  static_assert(!Future<const GivesInt>);
}

TEST(FutureTest, OutputOfLooksThroughReferences) {
  static_assert(std::same_as<OutputOf<GivesInt>, int>);
  static_assert(std::same_as<OutputOf<const GivesInt&>, int>);
  static_assert(std::same_as<OutputOf<GivesReference&&>, int&>);
}

TEST(FutureTest, AStreamGivesItems) {
  static_assert(Stream<GivesItems>);
  static_assert(!Stream<GivesInt>);
}

TEST(FutureTest, MovesAfterAPollOnlyIfItSaysSo) {
  static_assert(!kMovableAfterPoll<GivesInt>);
  static_assert(kMovableAfterPoll<GivesReference>);
}

}  // namespace
}  // namespace weft
