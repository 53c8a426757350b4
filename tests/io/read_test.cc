// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/read.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

TEST(ReadTest, GivesWhatThereIsThenTheEnd) {
  ManualExecutor executor;
  ScriptedReader reader("abc", 2);
  char buffer[8];

  EXPECT_THAT(executor.Run(Read(reader, buffer)), IsOkAndHolds(2u));
  EXPECT_EQ(std::string(buffer, 2), "ab");
  EXPECT_THAT(executor.Run(Read(reader, buffer)), IsOkAndHolds(1u));
  EXPECT_THAT(executor.Run(Read(reader, buffer)), IsOkAndHolds(0u));
}

TEST(ReadTest, PassesErrorsOn) {
  ManualExecutor executor;
  ScriptedReader reader("", 1, absl::DataLossError("bad"));
  char buffer[8];

  EXPECT_THAT(executor.Run(Read(reader, buffer)),
              StatusIs(absl::StatusCode::kDataLoss, "bad"));
}

TEST(ReadTest, DroppedTakesNothing) {
  std::optional<ScriptedReader> reader;
  char buffer[8];

  EXPECT_THAT(
      DropAtEveryPoll([&] { return Read(reader.emplace("abc"), buffer); }),
      IsOkAndHolds(2u));
}

}  // namespace
}  // namespace weft::io
