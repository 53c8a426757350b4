// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/status_matchers.h"

#include <errno.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/status.h"

namespace weft {
namespace {

using testing::Gt;
using testing::HasSubstr;
using testing::Not;
using testing::Pointee;

TEST(StatusMatchersTest, IsOkTakesBothKinds) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(1), IsOk());
  EXPECT_THAT(absl::AbortedError("no"), Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(absl::AbortedError("no")), Not(IsOk()));
}

TEST(StatusMatchersTest, IsOkAndHoldsLooksAtTheValue) {
  EXPECT_THAT(absl::StatusOr<int>(7), IsOkAndHolds(7));
  EXPECT_THAT(absl::StatusOr<int>(7), IsOkAndHolds(Gt(6)));
  EXPECT_THAT(absl::StatusOr<int>(7), Not(IsOkAndHolds(8)));
  EXPECT_THAT(absl::StatusOr<int>(absl::AbortedError("no")),
              Not(IsOkAndHolds(7)));
  EXPECT_THAT(absl::StatusOr<std::string>("abc"), IsOkAndHolds("abc"));
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(3)),
              IsOkAndHolds(Pointee(3)));
}

TEST(StatusMatchersTest, StatusIsLooksAtCodeAndMessage) {
  const absl::Status status = absl::NotFoundError("no such file");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("such")));
  EXPECT_THAT(status, StatusIs(Not(absl::StatusCode::kOk)));
  EXPECT_THAT(status, Not(StatusIs(absl::StatusCode::kAborted)));
  EXPECT_THAT(status, Not(StatusIs(absl::StatusCode::kNotFound, "other")));
  EXPECT_THAT(absl::StatusOr<int>(status),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(StatusMatchersTest, ErrnoIsLooksAtTheSystemError) {
  const absl::Status status = ErrnoStatus(ECONNREFUSED, "connect");
  EXPECT_THAT(status, ErrnoIs(ECONNREFUSED));
  EXPECT_THAT(status, Not(ErrnoIs(EPIPE)));
  EXPECT_THAT(absl::AbortedError("no"), ErrnoIs(0));
}

TEST(StatusMatchersTest, AFailureTellsTheStatus) {
  testing::StringMatchResultListener listener;
  const testing::Matcher<absl::StatusOr<int>> matcher = IsOkAndHolds(1);

  EXPECT_FALSE(matcher.MatchAndExplain(absl::AbortedError("why"), &listener));
  EXPECT_THAT(listener.str(), HasSubstr("why"));
}

}  // namespace
}  // namespace weft
