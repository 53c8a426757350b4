// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/copy.h"

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/io/pipe.h"
#include "weft/io/write.h"
#include "weft/io/write_all.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/io/reactor_scope.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

TEST(CopyTest, MovesEverythingAndCounts) {
  ManualExecutor executor;
  ScriptedReader reader("abcdef", 4);
  ScriptedWriter writer(3);

  EXPECT_THAT(executor.Run(Copy(reader, writer)), IsOkAndHolds(6u));
  EXPECT_EQ(writer.written(), "abcdef");
  EXPECT_EQ(writer.flushes(), 1);
  EXPECT_EQ(writer.shutdowns(), 0);
}

TEST(CopyTest, NothingIsCopiedAsNothing) {
  ManualExecutor executor;
  ScriptedReader reader("");
  ScriptedWriter writer;

  EXPECT_THAT(executor.Run(Copy(reader, writer)), IsOkAndHolds(0u));
}

TEST(CopyTest, KeptFutureSaysHowMuchWasCopied) {
  ScriptedReader reader("abcdef", 6);
  ScriptedWriter writer(1, 4, absl::DataLossError("full"));
  auto copy = Copy(reader, writer);
  Context cx(NoopWaker());
  for (;;) {
    auto polled = copy.Poll(cx);
    EXPECT_EQ(copy.copied(), writer.written().size());
    if (polled.IsPending()) continue;
    EXPECT_THAT(*polled, StatusIs(absl::StatusCode::kDataLoss));
    break;
  }

  EXPECT_EQ(copy.copied(), 4u);
}

TEST(CopyTest, MovesMuchThroughPipes) {
  ReactorScope scope;
  Pipe in = std::move(*Pipe::Create());
  Pipe out = std::move(*Pipe::Create());
  std::string text;
  for (int i = 0; i < 1'000'000; ++i)
    text.push_back(static_cast<char>(i % 251));
  std::string received;
  std::thread feeder([&] {
    EXPECT_THAT(BlockOn(WriteAll(in.writer, text)), IsOk());
    EXPECT_THAT(BlockOn(Shutdown(in.writer)), IsOk());
  });
  std::thread drain([&] {
    ScriptedWriter sink(text.size());
    EXPECT_THAT(BlockOn(Copy(out.reader, sink)), IsOkAndHolds(text.size()));
    received = sink.written();
  });

  EXPECT_THAT(BlockOn(Copy(in.reader, out.writer)), IsOkAndHolds(text.size()));
  EXPECT_THAT(BlockOn(Shutdown(out.writer)), IsOk());
  feeder.join();
  drain.join();

  EXPECT_EQ(received, text);
}

TEST(CopyTest, DroppedAnywhereItKeepsNothing) {
  std::optional<ScriptedReader> reader;
  std::optional<ScriptedWriter> writer;
  EXPECT_THAT(DropAtEveryPoll([&] {
                return Copy(reader.emplace("abcd", 2), writer.emplace());
              }),
              IsOk());
}

}  // namespace
}  // namespace weft::io
