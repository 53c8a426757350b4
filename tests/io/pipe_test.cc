// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/pipe.h"

#include <fcntl.h>
#include <signal.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/read.h"
#include "weft/io/write.h"
#include "weft/io/write_all.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/io/reactor_scope.h"

namespace weft::io {
namespace {

TEST(PipeTest, CarriesBytesAndTheEnd) {
  ReactorScope scope;
  Pipe pipe = std::move(*Pipe::Create());
  char buffer[16];

  EXPECT_THAT(BlockOn(WriteAll(pipe.writer, std::string("hello"))), IsOk());
  EXPECT_THAT(BlockOn(Flush(pipe.writer)), IsOk());
  EXPECT_THAT(BlockOn(Read(pipe.reader, buffer)), IsOkAndHolds(5u));
  EXPECT_EQ(std::string(buffer, 5), "hello");
  EXPECT_THAT(BlockOn(Shutdown(pipe.writer)), IsOk());
  EXPECT_THAT(BlockOn(Shutdown(pipe.writer)), IsOk());
  EXPECT_THAT(BlockOn(Read(pipe.reader, buffer)), IsOkAndHolds(0u));
  EXPECT_THAT(BlockOn(Read(pipe.reader, buffer)), IsOkAndHolds(0u));
}

TEST(PipeTest, EmptyBuffersAreReadyAtOnce) {
  Pipe pipe = std::move(*Pipe::Create());

  EXPECT_THAT(BlockOn(Read(pipe.reader, {})), IsOkAndHolds(0u));
  EXPECT_THAT(BlockOn(Write(pipe.writer, {})), IsOkAndHolds(0u));
}

TEST(PipeTest, ReadWaitsForAWrite) {
  ReactorScope scope;
  Pipe pipe = std::move(*Pipe::Create());
  char buffer[16];
  auto read = Read(pipe.reader, buffer);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(read.Poll(cx).IsPending());
  scope.Turn();
  EXPECT_TRUE(read.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 0);

  EXPECT_THAT(BlockOn(Write(pipe.writer, std::string("x"))), IsOkAndHolds(1u));
  scope.Turn();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*read.Poll(cx), IsOkAndHolds(1u));
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(PipeTest, WorksWithoutAnyDriverOfOnesOwn) {
  Pipe pipe = std::move(*Pipe::Create());
  char buffer[1];
  std::thread writer([&] {
    EXPECT_THAT(BlockOn(Write(pipe.writer, std::string("x"))),
                IsOkAndHolds(1u));
  });

  EXPECT_THAT(BlockOn(Read(pipe.reader, buffer)), IsOkAndHolds(1u));

  writer.join();
}

TEST(PipeTest, WritingWithoutReaderIsAnErrorAndNoSignal) {
  ReactorScope scope;
  signal(SIGPIPE, SIG_DFL);
  Pipe pipe = std::move(*Pipe::Create());
  pipe.reader.Close();

  EXPECT_THAT(BlockOn(Write(pipe.writer, std::string("x"))), ErrnoIs(EPIPE));
  EXPECT_THAT(BlockOn(WriteAll(pipe.writer, std::string("abc"))),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       testing::HasSubstr("after 0 of 3 bytes")));
}

TEST(PipeTest, WriterThatWaitsLearnsThatTheReaderIsGone) {
  ReactorScope scope;
  Pipe pipe = std::move(*Pipe::Create());
  const std::string much(1 << 20, 'x');
  auto write = WriteAll(pipe.writer, much);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(write.Poll(cx).IsPending());
  scope.Turn();
  EXPECT_TRUE(write.Poll(cx).IsPending());
  waker.TakeWakes();

  pipe.reader.Close();
  scope.Turn();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*write.Poll(cx), ErrnoIs(EPIPE));
  EXPECT_GT(write.cursor().done(), 0u);
}

TEST(PipeTest, EndsGoBackToTheCallerAsTheyCame) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  PipeReader reader = std::move(*PipeReader::FromFd(Fd(fds[0])));
  PipeWriter writer = std::move(*PipeWriter::FromFd(Fd(fds[1])));
  EXPECT_NE(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);

  const Fd read_end = std::move(reader).IntoFd();
  const Fd write_end = std::move(writer).IntoFd();

  EXPECT_EQ(read_end.get(), fds[0]);
  EXPECT_EQ(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
}

TEST(PipeTest, PacketsAreReadOneByOneWithoutStalling) {
  ReactorScope scope;
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC | O_DIRECT), 0);
  PipeReader reader = std::move(*PipeReader::FromFd(Fd(fds[0])));
  PipeWriter writer = std::move(*PipeWriter::FromFd(Fd(fds[1])));
  char buffer[16];
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(reader.PollRead(cx, buffer).IsPending());
  ASSERT_EQ(BlockOn(Write(writer, std::string("one"))).value(), 3u);
  ASSERT_EQ(BlockOn(Write(writer, std::string("two!"))).value(), 4u);
  scope.Turn();

  EXPECT_THAT(*reader.PollRead(cx, buffer), IsOkAndHolds(3u));
  EXPECT_THAT(*reader.PollRead(cx, buffer), IsOkAndHolds(4u));
  EXPECT_TRUE(reader.PollRead(cx, buffer).IsPending());
}

}  // namespace
}  // namespace weft::io
