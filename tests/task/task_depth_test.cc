// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Long and deep chains of tasks on a small stack, in every build.

#include <pthread.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/frame_cache.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer) || \
    HAS_FEATURE(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
constexpr bool kCachesFrames = false;
#else
constexpr bool kCachesFrames = true;
#endif

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }

// Runs `body` on a thread with a stack of 256 KiB.
void OnSmallStack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  WEFT_CHECK(pthread_attr_setstacksize(&attributes, 256 << 10) == 0,
             "a stack of 256 KiB must be allowed");
  pthread_t thread;
  auto run = [](void* body) -> void* {
    (*static_cast<std::function<void()>*>(body))();
    return nullptr;
  };
  WEFT_CHECK(pthread_create(&thread, &attributes, run, &body) == 0,
             "a thread could not be started");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

Task<int> ReadyChild(int value) { co_return value; }

Task<int64_t> AwaitReadyChildren(int count) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await ReadyChild(i & 1);
  co_return sum;
}

void RunReadyChildren(int count) {
  OnSmallStack([count] {
    Context cx(NoopWaker());
    Task<int64_t> task = AwaitReadyChildren(count);
    EXPECT_EQ(*task.Poll(cx), count / 2);
  });
}

TEST(TaskDepthTest, AMillionReadyChildrenOnASmallStack) {
  RunReadyChildren(1'000'000);
}

TEST(TaskDepthTest, TenMillionReadyChildrenOnASmallStackIfNotSanitized) {
  if (kSanitized && !IsLong()) {
    GTEST_SKIP() << "takes too long under a sanitizer; set WEFT_LONG=1";
  }
  RunReadyChildren(10'000'000);
}

TEST(TaskDepthTest, AMillionReadyFuturesOnASmallStack) {
  OnSmallStack([] {
    auto wait = [](int count) -> Task<int> {
      int sum = 0;
      for (int i = 0; i < count; ++i) sum += co_await Ready(1);
      co_return sum;
    };
    Context cx(NoopWaker());
    Task<int> task = wait(1'000'000);
    EXPECT_EQ(*task.Poll(cx), 1'000'000);
  });
}

constexpr int kDepth = 1'000'000;
// Where each frame costs microseconds, the other tests take a tenth.
constexpr int kVeryDeep = kSanitized ? kDepth / 10 : kDepth;

Task<int> Nest(int depth, Signal* signal) {
  if (depth == 0) co_return co_await signal->Wait();
  const int below = co_await Nest(depth - 1, signal);
  co_return below + 1;
}

TEST(TaskDepthTest, AChainAMillionDeepIsDestroyedOnASmallStack) {
  OnSmallStack([] {
    Signal signal;
    Context cx(NoopWaker());
    {
      Task<int> task = Nest(kDepth, &signal);
      EXPECT_TRUE(task.Poll(cx).IsPending());
      EXPECT_TRUE(signal.HasWaiter());
    }
    EXPECT_FALSE(signal.HasWaiter());
  });
}

TEST(TaskVeryDeepTest, AVeryDeepChainFinishesOnASmallStack) {
  OnSmallStack([] {
    Signal signal;
    Context cx(NoopWaker());
    Task<int> task = Nest(kVeryDeep, &signal);
    EXPECT_TRUE(task.Poll(cx).IsPending());
    signal.Set(7);
    EXPECT_EQ(*task.Poll(cx), kVeryDeep + 7);
    EXPECT_EQ(signal.polls(), 2);
  });
}

TEST(TaskVeryDeepTest, AVeryDeepChainIsAdoptedOnASmallStack) {
  OnSmallStack([] {
    auto outer = [](Signal* signal) -> Task<int> {
      Task<int> task = Nest(kVeryDeep, signal);
      static_cast<void>(co_await PollOnce(task));
      co_return co_await std::move(task);
    };
    Signal signal;
    Context cx(NoopWaker());
    {
      Task<int> dropped = outer(&signal);
      EXPECT_TRUE(dropped.Poll(cx).IsPending());
    }
    Task<int> task = outer(&signal);
    EXPECT_TRUE(task.Poll(cx).IsPending());
    signal.Set(7);
    EXPECT_EQ(*task.Poll(cx), kVeryDeep + 7);
  });
}

// ---- What awaiting costs ----

Task<int> YieldingChild(int value) {
  co_await YieldNow();
  co_return value;
}

Task<int64_t> AwaitBothKinds(int count) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += co_await ReadyChild(1);
    sum += co_await YieldingChild(1);
  }
  co_return sum;
}

TEST(TaskVeryDeepTest, AfterWarmUpAMillionChildrenAllocateNothingIfCached) {
  if (!kCachesFrames) GTEST_SKIP() << "frames are not cached here";
  Context cx(NoopWaker());
  auto run = [&cx](int count) {
    Task<int64_t> task = AwaitBothKinds(count);
    for (int i = 0; i < count; ++i) EXPECT_TRUE(task.Poll(cx).IsPending());
    EXPECT_EQ(*task.Poll(cx), 2 * count);
  };
  run(10);
  const FrameCacheStats before = GetFrameCacheStats();

  run(500'000);

  const FrameCacheStats after = GetFrameCacheStats();
  EXPECT_EQ(after.blocks_from_allocator, before.blocks_from_allocator);
  EXPECT_EQ(after.blocks_to_allocator, before.blocks_to_allocator);
}

}  // namespace
}  // namespace weft
