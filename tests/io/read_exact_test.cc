// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/read_exact.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/io/cursor.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

TEST(ReadExactTest, FillsTheBuffer) {
  ManualExecutor executor;
  ScriptedReader reader("abcdef", 2);
  char buffer[5];

  EXPECT_THAT(executor.Run(ReadExact(reader, buffer)), IsOk());
  EXPECT_EQ(std::string(buffer, 5), "abcde");
  EXPECT_EQ(reader.read(), 5u);
}

TEST(ReadExactTest, EmptyBufferIsFullAtOnce) {
  ManualExecutor executor;
  ScriptedReader reader("");

  EXPECT_THAT(executor.Run(ReadExact(reader, {})), IsOk());
}

TEST(ReadExactTest, EarlyEndSaysHowMuchThereWas) {
  ManualExecutor executor;
  ScriptedReader reader("abc");
  char buffer[8];

  EXPECT_THAT(executor.Run(ReadExact(reader, buffer)),
              StatusIs(absl::StatusCode::kOutOfRange,
                       "the stream ended after 3 of 8 bytes"));
}

TEST(ReadExactTest, ErrorSaysHowMuchThereWas) {
  ManualExecutor executor;
  ScriptedReader reader("abc", 2, absl::DataLossError("bad"));
  char buffer[8];

  EXPECT_THAT(
      executor.Run(ReadExact(reader, buffer)),
      StatusIs(absl::StatusCode::kDataLoss, "bad (after 3 of 8 bytes)"));
}

TEST(ReadExactTest, GoesOnWhereADroppedOneStopped) {
  ScriptedReader reader("abcdef");
  char buffer[6];
  ReadCursor cursor(buffer);
  Context cx(NoopWaker());
  int drops = 0;

  for (;; ++drops) {
    auto read = ReadExact(reader, cursor);
    if (read.Poll(cx).IsReady()) break;
    EXPECT_EQ(cursor.done(), reader.read());
  }

  EXPECT_GT(drops, 4);
  EXPECT_EQ(std::string(buffer, 6), "abcdef");
}

TEST(ReadExactTest, DroppedAnywhereItKeepsNothing) {
  std::optional<ScriptedReader> reader;
  char buffer[4];
  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return ReadExact(reader.emplace("abcdef"), buffer); }),
              IsOkAndHolds(5u));
}

}  // namespace
}  // namespace weft::io
