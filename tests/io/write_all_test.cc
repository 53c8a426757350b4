// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/write_all.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/io/cursor.h"
#include "weft/io/pipe.h"
#include "weft/io/read.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/io/reactor_scope.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

TEST(WriteAllTest, WritesEverything) {
  ManualExecutor executor;
  ScriptedWriter writer(2);

  EXPECT_THAT(executor.Run(WriteAll(writer, std::string("abcde"))), IsOk());
  EXPECT_EQ(writer.written(), "abcde");
  EXPECT_EQ(writer.flushes(), 0);
}

TEST(WriteAllTest, ErrorSaysHowMuchWasWritten) {
  ManualExecutor executor;
  ScriptedWriter writer(2, 3, absl::DataLossError("full"));

  EXPECT_THAT(
      executor.Run(WriteAll(writer, std::string("abcdef"))),
      StatusIs(absl::StatusCode::kDataLoss, "full (after 3 of 6 bytes)"));
}

TEST(WriteAllTest, GoesOnWhereADroppedOneStopped) {
  ScriptedWriter writer;
  const std::string text = "abcdef";
  WriteCursor cursor(text);
  Context cx(NoopWaker());

  for (;;) {
    auto write = WriteAll(writer, cursor);
    if (write.Poll(cx).IsReady()) break;
    EXPECT_EQ(cursor.done(), writer.written().size());
  }

  EXPECT_EQ(writer.written(), text);
}

// The peer of a pipe receives exactly what the cursor says was written.
TEST(WriteAllTest, CursorOfADroppedWriteIsWhatThePeerReceives) {
  ReactorScope scope;
  Pipe pipe = std::move(*Pipe::Create());
  std::string text;
  for (int i = 0; i < 400'000; ++i) text.push_back(static_cast<char>(i % 251));
  WriteCursor cursor(text);
  Context cx(NoopWaker());
  std::string received;
  char buffer[10'000];
  int drops = 0;
  const auto read = [&] {
    auto future = Read(pipe.reader, buffer);
    Polled<absl::StatusOr<size_t>> n = future.Poll(cx);
    if (n.IsReady()) received.append(buffer, **n);
    return n.IsReady();
  };

  for (bool done = false; !done; ++drops) {
    auto write = WriteAll(pipe.writer, cursor);
    done = write.Poll(cx).IsReady();
    scope.Turn();
    if (!read()) scope.Turn();
  }
  while (read()) {
  }

  EXPECT_GT(drops, 10);
  EXPECT_EQ(cursor.done(), text.size());
  EXPECT_EQ(received, text);
}

TEST(WriteAllTest, DroppedAnywhereItKeepsNothing) {
  std::optional<ScriptedWriter> writer;
  const std::string text = "abcd";
  EXPECT_THAT(DropAtEveryPoll([&] { return WriteAll(writer.emplace(), text); }),
              IsOkAndHolds(5u));
}

}  // namespace
}  // namespace weft::io
