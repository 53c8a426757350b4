// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The pool where memory is short, and where no thread can be started. Replaces
// operator new.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/blocking_pool.h"
#include "weft/task/block_on.h"
#include "weft/task/frame_cache.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace {
// If positive: this allocation of the thread, counted from 1, fails.
constinit thread_local int allocations_until_failure = 0;

// What becomes of threads that are being started.
enum class Starts { kSucceed, kFail, kHang };
constinit std::atomic<Starts> starts = Starts::kSucceed;
constinit std::atomic<int> hanging_starts = 0;

bool MayStart() {
  ++hanging_starts;
  while (starts == Starts::kHang) std::this_thread::yield();
  --hanging_starts;
  return starts == Starts::kSucceed;
}

void* Allocate(size_t size) {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) {
    allocations_until_failure = -1;
    return nullptr;
  }
  return std::malloc(size != 0 ? size : 1);
}
}  // namespace

// To start a thread asks for memory in this way; nothing else here does.
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  return MayStart() ? Allocate(size) : nullptr;
}
[[gnu::noinline]] void* operator new(size_t size) {
  void* block = Allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept {
  std::free(block);
}

namespace weft {
namespace {

// A coroutine frame that cannot be had ends the program, so they come from
// elsewhere.
constexpr FrameAllocator kFrames = {
    .allocate = [](size_t size) { return std::malloc(size); },
    .deallocate = [](void* block, size_t) { std::free(block); },
};

// Whichever allocation fails while a job is submitted: no place is lost, and the
// thread that could not start is started for the next job.
TEST(BlockingPoolMemoryTest, AFailedAllocationLeavesThePoolAsItWas) {
  SetFrameAllocator(&kFrames);
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    std::atomic<bool> inside{false};
    std::atomic<bool> open{false};
    BlockingPool pool(BlockingPoolOptions().MaxThreads(2).Name(
        "a-name-that-has-no-room-in-a-string-itself"));
    auto running = pool.Run(OffloadLane::kGeneral, [&] {
      inside = true;
      while (!open) std::this_thread::yield();
    });
    while (!inside) std::this_thread::yield();
    std::optional<JoinHandle<void>> second;
    allocations_until_failure = failures + 1;
    try {
      second = pool.Run(OffloadLane::kGeneral, [] {});
    } catch (const std::bad_alloc&) {
    }
    failed = allocations_until_failure < 0;
    allocations_until_failure = 0;
    EXPECT_EQ(pool.GetStats().threads, failed ? 1 : 2) << failures;
    // The second thread runs these.
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
    if (second.has_value()) BlockOn(*second);
    EXPECT_EQ(pool.GetStats().threads, 2);
    EXPECT_EQ(pool.GetStats().queued, 0u);
    open = true;
  }
  EXPECT_GE(failures, 3);
}

// The thread that would be started when another one has ended: what waits for it
// is refused, since nobody is left to try again.
TEST(BlockingPoolMemoryTest, AJobThatWaitsForAThreadToEndIsRefused) {
  SetFrameAllocator(&kFrames);
  int refused = 0;
  for (bool failed = true; failed; refused += failed) {
    std::atomic<bool> ending{false};
    std::atomic<bool> go_on{false};
    BlockingPool pool(BlockingPoolOptions()
                          .MaxThreads(1)
                          .KeepAlive(absl::ZeroDuration())
                          .Name("a-name-that-has-no-room-in-a-string-itself")
                          .OnThreadStop([&, failure = refused + 1] {
                            ending = true;
                            while (!go_on) std::this_thread::yield();
                            allocations_until_failure = failure;
                          }));
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
    while (!ending) std::this_thread::yield();
    auto job = pool.Run(OffloadLane::kGeneral, [] {});
    go_on = true;
    failed = !BlockOn(std::move(job).Outcome()).ok();
  }
  EXPECT_GE(refused, 3);
}

// ---- No thread can be started ----

absl::StatusCode CodeOf(JoinHandle<void> job) {
  return BlockOn(std::move(job).Outcome()).code();
}

// A job that runs until it is told to end.
class Job {
 public:
  explicit Job(BlockingPool& pool)
      : handle_(pool.Run(OffloadLane::kGeneral, [this] {
          running_ = true;
          while (!end_) std::this_thread::yield();
        })) {
    while (!running_) std::this_thread::yield();
  }
  ~Job() {
    End();
    BlockOn(handle_);
  }
  void End() { end_ = true; }

 private:
  std::atomic<bool> running_{false};
  std::atomic<bool> end_{false};
  JoinHandle<void> handle_;
};

class BlockingPoolStartTest : public testing::Test {
 protected:
  BlockingPoolStartTest() { starts = Starts::kSucceed; }

  JoinHandle<void> Run() {
    return pool_.Run(OffloadLane::kGeneral, [this] { ++ran_; });
  }
  // Another thread does the same, and hangs in the start of a thread for it.
  std::thread RunHanging(std::optional<JoinHandle<void>>& job) {
    starts = Starts::kHang;
    std::thread thread([this, &job] { job.emplace(Run()); });
    while (hanging_starts == 0) std::this_thread::yield();
    return thread;
  }

  std::atomic<int> ran_{0};
  BlockingPool pool_{BlockingPoolOptions().MaxThreads(2)};
};

TEST_F(BlockingPoolStartTest, WithoutAThreadJobsAreRefusedUntilThereIsOne) {
  starts = Starts::kFail;
  EXPECT_EQ(CodeOf(Run()), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOf(Run()), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool_.GetStats().failed_starts, 2u);
  EXPECT_EQ(pool_.GetStats().rejected, 2u);
  EXPECT_EQ(pool_.GetStats().threads, 0);
  EXPECT_TRUE(pool_.IsIdle());

  starts = Starts::kSucceed;
  EXPECT_EQ(CodeOf(Run()), absl::StatusCode::kOk);
  EXPECT_EQ(ran_, 1);
}

TEST_F(BlockingPoolStartTest, AJobWaitsForAThreadThatIsBusy) {
  Job busy(pool_);
  starts = Starts::kFail;
  JoinHandle<void> waits = Run();
  EXPECT_EQ(pool_.GetStats().failed_starts, 1u);
  EXPECT_EQ(pool_.GetStats().rejected, 0u);
  EXPECT_EQ(pool_.GetStats().queued, 1u);
  EXPECT_EQ(pool_.GetStats().threads, 1);

  busy.End();
  BlockOn(waits);
  EXPECT_EQ(pool_.GetStats().failed_starts, 1u);
  EXPECT_EQ(pool_.GetStats().started, 2u);
}

// What the other thread waits for may be this job.
TEST_F(BlockingPoolStartTest, AJobDoesNotWaitForAThreadThatStandsIn) {
  std::atomic<bool> inside{false};
  std::atomic<bool> open{false};
  JoinHandle<void> stand_in = pool_.Run(OffloadLane::kStandIn, [&] {
    inside = true;
    while (!open) std::this_thread::yield();
  });
  while (!inside) std::this_thread::yield();
  starts = Starts::kFail;
  EXPECT_EQ(CodeOf(Run()), absl::StatusCode::kResourceExhausted);
  open = true;
  BlockOn(stand_in);
}

TEST_F(BlockingPoolStartTest, TheNextJobTriesAgainForAllThatWait) {
  Job busy(pool_);
  starts = Starts::kFail;
  JoinHandle<void> waits = Run();
  starts = Starts::kSucceed;
  JoinHandle<void> next = Run();
  BlockOn(waits);
  BlockOn(next);
  EXPECT_EQ(pool_.GetStats().threads, 2);
}

TEST_F(BlockingPoolStartTest, JobsThatReliedOnTheThreadAreRefusedWithIt) {
  std::optional<JoinHandle<void>> first;
  std::thread other = RunHanging(first);
  JoinHandle<void> second = Run();
  EXPECT_EQ(pool_.GetStats().queued, 2u);
  starts = Starts::kFail;
  other.join();

  EXPECT_EQ(CodeOf(*std::move(first)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOf(std::move(second)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool_.GetStats().rejected, 2u);
  EXPECT_EQ(pool_.GetStats().failed_starts, 1u);
  EXPECT_EQ(pool_.GetStats().threads, 0);
  EXPECT_TRUE(pool_.IsIdle());
  EXPECT_EQ(ran_, 0);
}

// While the start is under way, the thread that was busy runs the job and becomes
// idle; what comes then wakes nobody, since a thread is on its way.
TEST_F(BlockingPoolStartTest, JobsThatReliedOnTheThreadWakeAnIdleOne) {
  Job busy(pool_);
  std::optional<JoinHandle<void>> first;
  std::thread other = RunHanging(first);
  busy.End();
  while (pool_.GetStats().idle_threads != 1) std::this_thread::yield();
  JoinHandle<void> second = Run();
  EXPECT_EQ(pool_.GetStats().wakeups, 0u);
  EXPECT_EQ(pool_.GetStats().queued, 1u);
  starts = Starts::kFail;
  other.join();

  BlockOn(second);
  EXPECT_EQ(pool_.GetStats().wakeups, 1u);
  EXPECT_EQ(pool_.GetStats().failed_starts, 1u);
  EXPECT_EQ(pool_.GetStats().threads, 1);
  EXPECT_EQ(CodeOf(*std::move(first)), absl::StatusCode::kOk);
  EXPECT_EQ(ran_, 2);
}

}  // namespace
}  // namespace weft
