// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/open_options.h"

#include <fcntl.h>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/status_matchers.h"

namespace weft::fs {
namespace {

TEST(OpenOptionsTest, ReadsUnlessToldOtherwise) {
  EXPECT_THAT(OpenOptions().Flags(), IsOkAndHolds(O_RDONLY));
  EXPECT_THAT(OpenOptions().Write().Flags(), IsOkAndHolds(O_WRONLY));
  EXPECT_THAT(OpenOptions().Read().Write().Flags(), IsOkAndHolds(O_RDWR));
  EXPECT_THAT(OpenOptions().Append().Flags(),
              IsOkAndHolds(O_WRONLY | O_APPEND));
  EXPECT_THAT(OpenOptions().Write().Write(false).Flags(),
              IsOkAndHolds(O_RDONLY));
}

TEST(OpenOptionsTest, MakesFiles) {
  EXPECT_THAT(OpenOptions().Write().Create().Truncate().Flags(),
              IsOkAndHolds(O_WRONLY | O_CREAT | O_TRUNC));
  EXPECT_THAT(OpenOptions().Write().CreateNew().Flags(),
              IsOkAndHolds(O_WRONLY | O_CREAT | O_EXCL));
  EXPECT_EQ(OpenOptions().mode(), 0666u);
  EXPECT_EQ(OpenOptions().Mode(0600).mode(), 0600u);
}

TEST(OpenOptionsTest, RefusesWhatContradictsItself) {
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(OpenOptions().Truncate().Flags(), invalid);
  EXPECT_THAT(OpenOptions().Append().Truncate().Flags(), invalid);
  EXPECT_THAT(OpenOptions().Create().Flags(), invalid);
  EXPECT_THAT(OpenOptions().CreateNew().Flags(), invalid);
}

}  // namespace
}  // namespace weft::fs
