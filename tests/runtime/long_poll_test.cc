// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A task that keeps its worker holds up neither the worker's timers nor its
// descriptors, while another worker has nothing to do.
#include <span>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/io/pipe.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/task.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

// Both bind a leaf to their worker's driver, then keep the worker until the leaf
// has been woken.
Task<> WaitForTimerInOnePoll() {
  CountingWaker waker;
  Context cx(waker.waker());
  timer::Sleep sleep = timer::After(absl::Milliseconds(1));
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  while (waker.wakes() == 0) std::this_thread::yield();
  co_return;
}

Task<> WaitForPipeInOnePoll() {
  io::Pipe pipe = *io::Pipe::Create();
  CountingWaker waker;
  Context cx(waker.waker());
  char byte = 'x';
  const std::span<char> one(&byte, 1);
  EXPECT_TRUE(pipe.reader.PollRead(cx, one).IsPending());
  EXPECT_TRUE(pipe.writer.PollWrite(cx, one).IsReady());
  while (waker.wakes() == 0) std::this_thread::yield();
  co_return;
}

TEST(LongPollTest, DoesNotHoldUpTheWorkersDriver) {
  Runtime runtime = *RuntimeBuilder().WorkerThreads(2).EnableAll().Build();
  for (int i = 0; i < 20; ++i) {
    runtime.BlockOn(runtime.Spawn(WaitForTimerInOnePoll()));
    runtime.BlockOn(runtime.Spawn(WaitForPipeInOnePoll()));
  }
}

TEST(LongPollTest, NorWithParkHooksAndTimersOnly) {
  Runtime runtime = *RuntimeBuilder()
                         .WorkerThreads(3)
                         .EnableTime()
                         .OnThreadPark([] {})
                         .Build();
  for (int i = 0; i < 20; ++i) {
    runtime.BlockOn(runtime.Spawn(WaitForTimerInOnePoll()));
  }
}

}  // namespace
}  // namespace weft
