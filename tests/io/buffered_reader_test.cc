// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/buffered_reader.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/io/read.h"
#include "weft/io/read_exact.h"
#include "weft/task/borrow.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

using testing::ElementsAre;
using testing::Optional;

static_assert(!kBorrows<BufferedReader<ScriptedReader>>);
static_assert(kBorrows<BufferedReader<ScriptedReader&>>);
static_assert(kBorrows<ReadFuture<ScriptedReader>>);

// All lines of `text`, read in pieces of `piece` bytes.
std::vector<std::string> Lines(std::string text, size_t piece) {
  ManualExecutor executor;
  BufferedReader reader(ScriptedReader(std::move(text), piece));
  std::vector<std::string> lines;
  for (;;) {
    std::optional<std::string> line = *executor.Run(reader.ReadLine(1'000'000));
    if (!line.has_value()) return lines;
    lines.push_back(*std::move(line));
  }
}

TEST(BufferedReaderTest, ReadsLinesWhateverThePieces) {
  for (size_t piece : {1, 2, 3, 5, 100}) {
    EXPECT_THAT(Lines("one\r\n\ntwo\nr\rest\n\r\n", piece),
                ElementsAre("one", "", "two", "r\rest", ""));
    EXPECT_THAT(Lines("no end", piece), ElementsAre("no end"));
    EXPECT_THAT(Lines("", piece), ElementsAre());
    EXPECT_THAT(Lines("\n", piece), ElementsAre(""));
  }
}

TEST(BufferedReaderTest, LinesMayBeLongerThanTheBuffer) {
  const std::string longest(300'000, 'x');

  EXPECT_THAT(Lines("a\n" + longest + "\nb\n" + longest, 1000),
              ElementsAre("a", longest, "b", longest));
}

TEST(BufferedReaderTest, ReadUntilKeepsTheDelimiter) {
  ManualExecutor executor;
  BufferedReader reader(ScriptedReader("k=v=rest", 3));

  EXPECT_THAT(executor.Run(reader.ReadUntil('=', 10)),
              IsOkAndHolds(Optional(std::string("k="))));
  EXPECT_THAT(executor.Run(reader.ReadUntil('=', 10)),
              IsOkAndHolds(Optional(std::string("v="))));
  EXPECT_THAT(executor.Run(reader.ReadUntil('=', 10)),
              IsOkAndHolds(Optional(std::string("rest"))));
  EXPECT_THAT(executor.Run(reader.ReadUntil('=', 10)),
              IsOkAndHolds(std::nullopt));
}

TEST(BufferedReaderTest, TooLongALineIsAnErrorAndStays) {
  ManualExecutor executor;
  BufferedReader reader(ScriptedReader("abcdef\nx\n", 100));

  EXPECT_THAT(executor.Run(reader.ReadLine(4)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "no end of line within 4 bytes"));
  EXPECT_THAT(executor.Run(reader.ReadLine(6)),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(executor.Run(reader.ReadLine(7)),
              IsOkAndHolds(Optional(std::string("abcdef"))));
}

TEST(BufferedReaderTest, ErrorsLeaveWhatWasRead) {
  ManualExecutor executor;
  BufferedReader reader(ScriptedReader("abc", 2, absl::DataLossError("bad")));

  EXPECT_THAT(executor.Run(reader.ReadLine(100)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(std::string(reader.buffer().begin(), reader.buffer().end()), "abc");
  reader.Consume(1);
  EXPECT_EQ(reader.buffer().size(), 2u);
}

TEST(BufferedReaderTest, IsAStreamItself) {
  ManualExecutor executor;
  ScriptedReader stream("line\nabcdef", 7);
  BufferedReader reader(stream);
  EXPECT_THAT(executor.Run(reader.ReadLine(100)), IsOk());
  char buffer[5];
  EXPECT_THAT(executor.Run(ReadExact(reader, buffer)), IsOk());

  EXPECT_EQ(std::string(buffer, 5), "abcde");
  EXPECT_THAT(executor.Run(Read(reader, buffer)), IsOkAndHolds(1u));
  EXPECT_THAT(executor.Run(Read(reader, buffer)), IsOkAndHolds(0u));
  EXPECT_EQ(&reader.stream(), &stream);
}

TEST(BufferedReaderTest, LargeReadsDoNotGoThroughTheBuffer) {
  ManualExecutor executor;
  BufferedReader reader(ScriptedReader(std::string(100'000, 'x'), 50'000));
  std::vector<char> large(60'000);

  EXPECT_THAT(executor.Run(Read(reader, large)), IsOkAndHolds(50'000u));
}

// Each call is dropped after one poll; the lines come out whole.
TEST(BufferedReaderTest, DroppedCallsLoseNoByte) {
  BufferedReader reader(ScriptedReader("first line\nsecond\n", 1));
  Context cx(NoopWaker());
  std::vector<std::string> lines;
  int drops = 0;

  for (;; ++drops) {
    auto read = reader.ReadLine(100);
    auto polled = read.Poll(cx);
    if (polled.IsPending()) continue;
    if (!(*polled)->has_value()) break;
    lines.push_back(***std::move(polled));
  }

  EXPECT_GT(drops, 18);
  EXPECT_THAT(lines, ElementsAre("first line", "second"));
}

TEST(BufferedReaderTest, DroppedAnywhereItKeepsNothing) {
  std::optional<BufferedReader<ScriptedReader>> reader;
  EXPECT_THAT(DropAtEveryPoll([&] {
                return reader.emplace(ScriptedReader("abc\nd", 1)).ReadLine(9);
              }),
              IsOkAndHolds(5u));
}

}  // namespace
}  // namespace weft::io
