// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/check.h"

#include <string>

#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(CheckTest, EvaluatesTheConditionOnceAndTheMessageNever) {
  int conditions = 0;
  int messages = 0;
  auto message = [&] {
    ++messages;
    return std::string("never seen");
  };

  WEFT_CHECK(++conditions > 0, message());

  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(messages, 0);
}

TEST(CheckTest, IsAnExpression) {
  const bool fine = true;
  const int n = (WEFT_CHECK(fine, "must be fine"), 3);

  EXPECT_EQ(n, 3);
}

TEST(CheckDeathTest, TellsWhereWhatAndWhy) {
  const bool kept = false;

  EXPECT_DEATH(WEFT_CHECK(kept, "keep the handle"),
               "check_test.cc:[0-9]+: keep the handle \\(kept\\)");
}

}  // namespace
}  // namespace weft
