// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Objects of different optimisation and exception flags in one program: the
// linker keeps one copy of each inline function, whoever compiled it.

#include "weft/tests/task/linked_flags.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/frame_cache.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

using Append = Task<std::string> (*)(Task<std::string>, Signal*);
using SpawnIn = JoinHandle<std::string> (*)(Spawner&, Task<std::string>);
using BlockOnIn = std::string (*)(JoinHandle<std::string>);

constexpr Append kAppends[] = {&AppendPlain, &AppendOptimized,
                               &AppendWithoutExceptions,
                               &AppendWithoutAssertions};
constexpr SpawnIn kSpawns[] = {&SpawnPlain, &SpawnOptimized,
                               &SpawnWithoutExceptions,
                               &SpawnWithoutAssertions};
constexpr BlockOnIn kBlockOns[] = {&BlockOnPlain, &BlockOnOptimized,
                                   &BlockOnWithoutExceptions,
                                   &BlockOnWithoutAssertions};
constexpr const char* kNames[] = {"Plain ", "Optimized ", "WithoutExceptions ",
                                  "WithoutAssertions "};

Task<std::string> Start(Signal* signal) {
  co_await signal->Wait();
  co_return "Start ";
}

size_t InUse() {
  const FrameCacheStats stats = GetFrameCacheStats();
  return stats.blocks_from_allocator - stats.blocks_to_allocator;
}

// Every pair of objects: one's task awaits the other's, polled by a third's
// spawned task.
TEST(LinkedFlagsTest, TasksOfEveryTwoObjectsWorkTogether) {
  for (int outer = 0; outer < 4; ++outer) {
    for (int inner = 0; inner < 4; ++inner) {
      Signal signal;
      ManualExecutor executor;
      JoinHandle<std::string> handle = kSpawns[(outer + inner) % 4](
          executor.spawner(),
          kAppends[outer](kAppends[inner](Start(&signal), &signal), &signal));
      executor.RunUntilIdle();
      EXPECT_EQ(signal.polls(), 1);
      signal.Set();
      executor.RunUntilIdle();

      ASSERT_TRUE(handle.IsFinished());
      EXPECT_EQ(kBlockOns[inner](std::move(handle)),
                std::string("Start ") + kNames[inner] + kNames[outer]);
      EXPECT_EQ(signal.polls(), 4);  // the same, whoever compiled it
    }
  }
}

// Polled by one object, left pending, and awaited by another's coroutine.
TEST(LinkedFlagsTest, AStartedTaskMovesBetweenObjects) {
  for (int outer = 0; outer < 4; ++outer) {
    for (int inner = 0; inner < 4; ++inner) {
      Signal wait_inner;
      Signal wait_outer;
      Context cx(NoopWaker());
      Task<std::string> task = kAppends[inner](Start(&wait_inner), &wait_inner);
      EXPECT_TRUE(task.Poll(cx).IsPending());
      Task<std::string> root = kAppends[outer](std::move(task), &wait_outer);
      EXPECT_TRUE(root.Poll(cx).IsPending());
      wait_outer.Set();
      EXPECT_TRUE(root.Poll(cx).IsPending());
      wait_inner.Set();

      EXPECT_EQ(*root.Poll(cx),
                std::string("Start ") + kNames[inner] + kNames[outer]);
    }
  }
}

TEST(LinkedFlagsTest, DroppedAnywhereNothingIsLeaked) {
  auto round = [] {
    Signal signal;
    for (const Append outer : kAppends) {
      for (const Append inner : kAppends) {
        Task<std::string> task = outer(inner(Start(&signal), &signal), &signal);
        Context cx(NoopWaker());
        EXPECT_TRUE(task.Poll(cx).IsPending());
      }
    }
    EXPECT_FALSE(signal.HasWaiter());
  };
  round();
  const size_t before = InUse();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(InUse(), before);
}

#if defined(__cpp_exceptions)

struct Oops {};

Task<std::string> Throw() {
  throw Oops();
  co_return "";
}
Task<std::string> Catch(Task<std::string> inner) {
  try {
    co_return co_await std::move(inner);
  } catch (const Oops&) {
    co_return "Caught ";
  }
}

// Through coroutines that were compiled with exceptions, and through inline
// functions that may not have been.
TEST(LinkedFlagsTest, ExceptionsPassAndNothingIsLeaked) {
  auto round = [] {
    for (const Append append :
         {&AppendPlain, &AppendOptimized, &AppendWithoutAssertions}) {
      Signal signal;
      signal.Set();
      Context cx(NoopWaker());
      Task<std::string> caught = Catch(append(Throw(), &signal));
      EXPECT_EQ(*caught.Poll(cx), "Caught ");
    }
    for (const SpawnIn spawn : kSpawns) {
      ManualExecutor executor;
      JoinHandle<std::string> handle = spawn(executor.spawner(), Throw());
      executor.RunUntilIdle();
      EXPECT_THROW(executor.Run(std::move(handle)), Oops);
    }
  };
  round();
  const size_t before = InUse();
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(InUse(), before);
}

#endif

}  // namespace
}  // namespace weft
