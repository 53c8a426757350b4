// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/poll_capture.h"

#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/task/await_trace.h"
#include "weft/task/instant.h"
#include "weft/task/invoke.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"

namespace weft::executor_internal {
namespace {

constexpr int kSignal = SIGURG;

class PollCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = PollCapture::UseSignal(kSignal);
    ASSERT_TRUE(status.ok()) << status;
  }
  static Instant Later() { return Instant::Now() + absl::Seconds(100); }
};

// Calls body() on a thread, and then waits in system calls until it is let go.
template <class Body>
class Other {
 public:
  explicit Other(Body body)
      : thread_([this, body] {
          id_.store(gettid());
          body(stop_);
        }) {}
  ~Other() {
    stop_.store(true);
    thread_.join();
  }
  pid_t id() const {
    while (id_.load() == 0) std::this_thread::yield();
    return id_.load();
  }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// In a system call: the thread sanitizer holds signals back until there is one.
void Block() { ::poll(nullptr, 0, /*timeout=*/1); }

TEST_F(PollCaptureTest, OfAThreadThatPollsNothing) {
  Other other([](std::atomic<bool>& stop) {
    while (!stop.load()) Block();
  });
  PollCapture capture;
  ASSERT_TRUE(PollCapture::Take(other.id(), Later(), capture));
  EXPECT_FALSE(capture.task);
  EXPECT_GT(capture.stack_size, 2u);
}

// The signal comes at any moment of what a task can do.
TEST_F(PollCaptureTest, AtAnyMoment) {
  static constexpr auto inner = []() -> Task<> { co_await YieldNow(); };
  static constexpr auto outer = []() -> Task<> {
    co_await Ready(1);
    for (int i = 0; i < 10; ++i) co_await inner();
  };
  Other other([](std::atomic<bool>& stop) {
    Executor executor;
    executor.Run(Invoke([&]() -> Task<> {
      while (!stop.load()) {
        for (int i = 0; i < 100; ++i) co_await weft::Spawn(outer());
        Block();
      }
    }));
  });
  const pid_t id = other.id();
  int with_task = 0;
  for (int i = 0; i < 1'000 || with_task == 0; ++i) {
    // At changing moments, and not all the time.
    const Instant next = Instant::Now() + absl::Microseconds(i % 100);
    while (Instant::Now() < next) std::this_thread::yield();
    PollCapture capture;
    ASSERT_TRUE(PollCapture::Take(id, Later(), capture));
    if (!capture.task) continue;
    ++with_task;
    EXPECT_LE(capture.awaits.lines().size(), 3u);
  }
}

TEST_F(PollCaptureTest, AThreadThatBlocksTheSignalDoesNotAnswer) {
  std::atomic<bool> blocked{false};
  Other other([&](std::atomic<bool>& stop) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, kSignal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    blocked.store(true);
    while (!stop.load()) Block();
    // It comes too late, and writes nothing.
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  });
  while (!blocked.load()) std::this_thread::yield();
  PollCapture capture;
  EXPECT_FALSE(PollCapture::Take(
      other.id(), Instant::Now() + absl::Milliseconds(5), capture));
}

TEST_F(PollCaptureTest, AThreadThatDoesNotExistDoesNotAnswer) {
  PollCapture capture;
  EXPECT_FALSE(PollCapture::Take(1 << 30, Later(), capture));
}

TEST_F(PollCaptureTest, OneSignalForAll) {
  EXPECT_TRUE(PollCapture::UseSignal(kSignal).ok());
  EXPECT_TRUE(PollCapture::UseSignal(0).ok());  // any
  EXPECT_EQ(PollCapture::UseSignal(SIGUSR1).code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace weft::executor_internal
