// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/cursor.h"

#include <errno.h>

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"

namespace weft::io {
namespace {

TEST(CursorTest, KnowsWhatIsDoneAndWhatIsLeft) {
  const std::string text = "abcdef";
  WriteCursor cursor(text);
  EXPECT_EQ(cursor.done(), 0u);
  EXPECT_EQ(cursor.rest().size(), 6u);

  cursor.Advance(4);

  EXPECT_EQ(cursor.done(), 4u);
  EXPECT_EQ(cursor.size(), 6u);
  EXPECT_EQ(std::string(cursor.finished().begin(), cursor.finished().end()),
            "abcd");
  EXPECT_EQ(std::string(cursor.rest().begin(), cursor.rest().end()), "ef");
}

TEST(CursorTest, ProgressIsAddedToAnErrorThatStaysItself) {
  const absl::Status status =
      io_internal::AddProgress(ErrnoStatus(ECONNRESET, "recv"), 3, 8);

  EXPECT_THAT(status, ErrnoIs(ECONNRESET));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               testing::EndsWith("(after 3 of 8 bytes)")));
}

}  // namespace
}  // namespace weft::io
