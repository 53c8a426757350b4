// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/status.h"

#include <errno.h>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/status_matchers.h"

namespace weft {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(StatusTest, KeepsTheSystemsError) {
  const absl::Status status = ErrnoStatus(ECONNREFUSED, "connect 127.0.0.1:80");

  EXPECT_EQ(ErrnoOf(status), ECONNREFUSED);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr("connect 127.0.0.1:80"),
                                     HasSubstr("Connection refused"))));
}

TEST(StatusTest, AnAddressThatIsNotThereDoesNotExistAlready) {
  EXPECT_THAT(
      ErrnoStatus(EADDRNOTAVAIL, "bind 1.2.3.4:80"),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("bind 1.2.3.4:80")));
  EXPECT_THAT(ErrnoStatus(EADDRINUSE, "bind 1.2.3.4:80"),
              StatusIs(absl::ErrnoToStatusCode(EADDRINUSE)));
}

TEST(StatusTest, EveryErrnoComesBack) {
  for (int error = 1; error < 134; ++error) {
    EXPECT_EQ(ErrnoOf(ErrnoStatus(error, "try")), error);
  }
}

TEST(StatusTest, TheErrorSurvivesCopies) {
  absl::Status copy;
  {
    const absl::Status status = ErrnoStatus(ENOENT, "open /x");
    copy = status;
  }
  EXPECT_EQ(ErrnoOf(copy), ENOENT);
}

TEST(StatusTest, OtherStatusesHaveNoErrno) {
  EXPECT_EQ(ErrnoOf(absl::OkStatus()), 0);
  EXPECT_EQ(ErrnoOf(absl::NotFoundError("x")), 0);
  EXPECT_EQ(ErrnoOf(CancelledStatus()), 0);
}

TEST(StatusTest, PlainOutcomesAreTheCodeAlone) {
  EXPECT_THAT(CancelledStatus(), StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_THAT(RefusedStatus(),
              StatusIs(absl::StatusCode::kResourceExhausted, ""));
  EXPECT_THAT(DeadlineStatus(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
}

}  // namespace
}  // namespace weft
