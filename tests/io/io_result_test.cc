// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/io_result.h"

#include <errno.h>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"

namespace weft::io {
namespace {

TEST(IoResultTest, HoldsWhatACallReturned) {
  const IoResult result = IoResult::Of(7);

  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.value(), 7u);
  EXPECT_EQ(result.error(), 0);
  EXPECT_THAT(result.Get("read"), IsOkAndHolds(7u));
  EXPECT_THAT(result.status("read"), IsOk());
}

TEST(IoResultTest, ErrorBecomesAStatusThatNamesTheCall) {
  errno = ECONNREFUSED;
  const IoResult result = IoResult::Of(-1);

  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.WouldBlock());
  EXPECT_THAT(result.Get("connect 127.0.0.1:1"), ErrnoIs(ECONNREFUSED));
  EXPECT_THAT(result.status("connect 127.0.0.1:1"),
              StatusIs(absl::StatusCode::kUnavailable,
                       testing::StartsWith("connect 127.0.0.1:1")));
}

TEST(IoResultTest, WouldBlockAndClosedAreNoErrorsOfTheSystem) {
  EXPECT_TRUE(IoResult::WouldBlockError().WouldBlock());
  EXPECT_TRUE(IoResult::SourceClosed().IsClosed());
  EXPECT_TRUE(IoResult::ReactorClosed().IsClosed());
  EXPECT_EQ(IoResult::SourceClosed().error(), 0);
  EXPECT_THAT(IoResult::SourceClosed().status("x"),
              StatusIs(weft::ClosedStatus().code()));
  EXPECT_THAT(IoResult::ReactorClosed().status("x"),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace weft::io
