// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/write.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

TEST(WriteTest, SaysHowMuchWasAccepted) {
  ManualExecutor executor;
  ScriptedWriter writer(2);

  EXPECT_THAT(executor.Run(Write(writer, std::string("abc"))),
              IsOkAndHolds(2u));
  EXPECT_EQ(writer.written(), "ab");
}

TEST(WriteTest, FlushesAndShutsDown) {
  ManualExecutor executor;
  ScriptedWriter writer;

  EXPECT_THAT(executor.Run(Flush(writer)), IsOk());
  EXPECT_THAT(executor.Run(Shutdown(writer)), IsOk());
  EXPECT_EQ(writer.flushes(), 1);
  EXPECT_EQ(writer.shutdowns(), 1);
}

TEST(WriteTest, DroppedKeepsNothing) {
  std::optional<ScriptedWriter> writer;
  const std::string text = "abc";

  EXPECT_THAT(DropAtEveryPoll([&] { return Write(writer.emplace(), text); }),
              IsOkAndHolds(2u));
  EXPECT_THAT(DropAtEveryPoll([&] { return Flush(writer.emplace()); }),
              IsOkAndHolds(2u));
  EXPECT_THAT(DropAtEveryPoll([&] { return Shutdown(writer.emplace()); }),
              IsOkAndHolds(1u));
}

}  // namespace
}  // namespace weft::io
