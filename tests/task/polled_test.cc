// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/polled.h"

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(PolledTest, HoldsAValue) {
  Polled<int> polled = 7;

  EXPECT_TRUE(polled.IsReady());
  EXPECT_FALSE(polled.IsPending());
  EXPECT_TRUE(static_cast<bool>(polled));
  EXPECT_EQ(*polled, 7);
}

TEST(PolledTest, IsPending) {
  const Polled<int> polled = kPending;

  EXPECT_FALSE(polled.IsReady());
  EXPECT_TRUE(polled.IsPending());
  EXPECT_FALSE(static_cast<bool>(polled));
}

TEST(PolledTest, GivesAMoveOnlyValueAway) {
  Polled<std::unique_ptr<int>> polled = std::make_unique<int>(3);

  std::unique_ptr<int> value = *std::move(polled);

  EXPECT_EQ(*value, 3);
}

TEST(PolledTest, ReachesMembers) {
  Polled<std::string> polled = std::string("abc");
  const Polled<std::string> constant = polled;

  EXPECT_EQ(polled->size(), 3u);
  EXPECT_EQ(constant->size(), 3u);
  EXPECT_EQ(*constant, "abc");
}

TEST(PolledTest, OfABoolIsReadyWithFalse) {
  const Polled<bool> polled = false;

  EXPECT_TRUE(polled.IsReady());
  EXPECT_FALSE(*polled);
}

TEST(PolledTest, OfAnOptionalIsReadyWithNothing) {
  const Polled<std::optional<int>> polled = std::optional<int>();

  EXPECT_TRUE(polled.IsReady());
  EXPECT_FALSE(polled->has_value());
}

TEST(PolledTest, HoldsAReferenceToTheObjectItself) {
  std::string text = "abc";
  const Polled<std::string&> polled = text;

  EXPECT_EQ(&*polled, &text);
  EXPECT_EQ(polled->size(), 3u);
  EXPECT_TRUE(Polled<std::string&>(kPending).IsPending());
}

TEST(PolledTest, OfVoidOnlyTells) {
  EXPECT_TRUE(Polled<void>(Unit()).IsReady());
  EXPECT_TRUE(Polled<void>(kPending).IsPending());
  static_assert(std::is_void_v<decltype(*Polled<void>(kPending))>);
}

TEST(PolledTest, TakeReadyMakesVoidAUnit) {
  int number = 1;
  EXPECT_EQ(TakeReady(Polled<void>(Unit())), Unit());
  EXPECT_EQ(TakeReady(Polled<int>(4)), 4);
  EXPECT_EQ(*TakeReady(Polled(std::make_unique<int>(5))), 5);
  EXPECT_EQ(&TakeReady(Polled<int&>(number)), &number);
}

TEST(PolledTest, UnitIfVoid) {
  static_assert(std::same_as<UnitIfVoid<void>, Unit>);
  static_assert(std::same_as<UnitIfVoid<int&>, int&>);
  static_assert(std::same_as<Polled<int&>::value_type, int&>);
  static_assert(std::is_empty_v<Unit>);
}

}  // namespace
}  // namespace weft
