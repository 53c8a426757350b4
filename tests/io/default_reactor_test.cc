// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/default_reactor.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/io/pipe.h"
#include "weft/io/reactor.h"
#include "weft/io/read.h"
#include "weft/io/source.h"
#include "weft/io/write.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"

namespace weft::io::io_internal {
namespace {

// In a process of its own, where no thread has started the service yet: without
// descriptors the first wait fails with the system's error; with them, the next
// one works.
TEST(DefaultReactorTest, ShortageIsReportedAndRetried) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    Pipe pipe = std::move(*Pipe::Create());
    rlimit old;
    getrlimit(RLIMIT_NOFILE, &old);
    rlimit none = old;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    // Polled by hand, because a sanitizer needs a descriptor to look at an
    // object with virtual functions.
    Context cx(NoopWaker());
    const absl::Status shortage = *pipe.reader.source().PollReadable(cx);
    setrlimit(RLIMIT_NOFILE, &old);
    char byte = 'x';
    const bool written = BlockOn(Write(pipe.writer, {&byte, 1})).ok();
    const absl::Status later = BlockOn(pipe.reader.source().Readable());
    _exit(ErrnoOf(shortage) == EMFILE && written && later.ok() ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(DefaultReactorTest, IsOneForAllThreads) {
  std::vector<std::thread> threads;
  std::vector<Reactor*> reactors(8);
  for (Reactor*& reactor : reactors) {
    threads.emplace_back([&reactor] { reactor = *DefaultReactor(); });
  }
  for (std::thread& thread : threads) thread.join();

  for (Reactor* reactor : reactors) EXPECT_EQ(reactor, reactors[0]);
}

TEST(DefaultReactorTest, ServesThreadsThatHaveNone) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      Pipe ping = std::move(*Pipe::Create());
      Pipe pong = std::move(*Pipe::Create());
      std::thread echo([&] {
        for (int n = 0; n < 200; ++n) {
          char byte;
          ASSERT_THAT(BlockOn(Read(ping.reader, {&byte, 1})), IsOk());
          ASSERT_THAT(BlockOn(Write(pong.writer, {&byte, 1})), IsOk());
        }
      });
      for (int n = 0; n < 200; ++n) {
        char byte = static_cast<char>(n);
        char answer = 0;
        ASSERT_THAT(BlockOn(Write(ping.writer, {&byte, 1})), IsOk());
        ASSERT_THAT(BlockOn(Read(pong.reader, {&answer, 1})), IsOk());
        ASSERT_EQ(answer, byte);
      }
      echo.join();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::io::io_internal
