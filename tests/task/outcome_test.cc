// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/outcome.h"

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"

namespace weft {
namespace {

using testing::Pointee;

TEST(OutcomeTest, StatusesFlatten) {
  static_assert(std::same_as<OutcomeOf<int>, absl::StatusOr<int>>);
  static_assert(
      std::same_as<OutcomeOf<absl::StatusOr<int>>, absl::StatusOr<int>>);
  static_assert(std::same_as<OutcomeOf<absl::Status>, absl::Status>);
  static_assert(std::same_as<OutcomeOf<void>, absl::Status>);
  static_assert(std::same_as<OutcomeOf<Unit>, absl::Status>);
  static_assert(std::same_as<OutcomeOf<int&>,
                             absl::StatusOr<std::reference_wrapper<int>>>);
}

TEST(OutcomeTest, TakesWhatIsReady) {
  EXPECT_THAT(MakeOutcome(Polled<int>(3)), IsOkAndHolds(3));
  EXPECT_THAT(MakeOutcome(Polled(std::make_unique<int>(3))),
              IsOkAndHolds(Pointee(3)));
  EXPECT_THAT(MakeOutcome(Polled<void>(Unit())), IsOk());
  EXPECT_THAT(MakeOutcome(Polled<Unit>(Unit())), IsOk());
}

TEST(OutcomeTest, KeepsAnErrorThatIsTheValue) {
  EXPECT_THAT(MakeOutcome(Polled<absl::Status>(absl::AbortedError("x"))),
              StatusIs(absl::StatusCode::kAborted, "x"));
  EXPECT_THAT(MakeOutcome(Polled<absl::StatusOr<int>>(absl::AbortedError("x"))),
              StatusIs(absl::StatusCode::kAborted, "x"));
}

TEST(OutcomeTest, KeepsAReference) {
  int number = 1;

  OutcomeOf<int&> outcome = MakeOutcome(Polled<int&>(number));

  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(&outcome->get(), &number);
}

}  // namespace
}  // namespace weft
