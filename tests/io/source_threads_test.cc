// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What io/source.h promises to several threads at once.

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/reactor.h"
#include "weft/io/readiness.h"
#include "weft/io/source.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/io/open_descriptors.h"
#include "weft/tests/io/reactor_scope.h"
#include "weft/timer/timeout.h"
#include "weft/timer/timers.h"

namespace weft::io {
namespace {

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }

struct Pair {
  explicit Pair(int type = SOCK_STREAM) {
    int fds[2];
    socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds);
    source.emplace(Source::Adopt(Fd(fds[0])));
    peer = Fd(fds[1]);
  }

  std::optional<Source> source;
  Fd peer;
};

// A thread that drives a reactor, for readers on other threads.
class DrivingThread {
 public:
  explicit DrivingThread(Reactor& reactor)
      : unparker_(reactor.Unparker()), thread_([this, &reactor] {
          while (!stop_.load()) reactor.Park(Instant::Infinite());
        }) {}
  ~DrivingThread() {
    stop_.store(true);
    unparker_.WakeByRef();
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  Waker unparker_;
  std::thread thread_;
};

// The writer sends one byte at a time and, every so often, waits until all were
// received, so that each edge counts. Reader and reactor are different threads.
TEST(SourceThreadsTest, NoEdgeIsLostBetweenReaderAndReactor) {
  const uint64_t edges = IsLong() ? 1'000'000 : 30'000;
  std::unique_ptr<Reactor> reactor = std::move(*Reactor::Create());
  const DrivingThread driving(*reactor);
  Environment environment;
  environment.reactor = reactor.get();
  Pair pair;
  std::atomic<uint64_t> received{0};
  std::thread writer([&] {
    for (uint64_t sent = 0; sent < edges;) {
      if (send(pair.peer.get(), "x", 1, MSG_NOSIGNAL) == 1) ++sent;
      if (sent % 3 != 0) continue;
      while (received.load(std::memory_order_relaxed) < sent) {
        std::this_thread::yield();
      }
    }
  });

  const EnvironmentScope scope(environment);
  char buffer[64];
  while (received.load(std::memory_order_relaxed) < edges) {
    const auto poll = [&](Context& cx) {
      return pair.source->PollIo(
          cx, Direction::kRead,
          [&](int fd) { return read(fd, buffer, sizeof(buffer)); },
          sizeof(buffer));
    };
    const IoResult n = BlockOn(PollFn(poll));
    ASSERT_TRUE(n.ok());
    received.fetch_add(n.value(), std::memory_order_relaxed);
  }
  writer.join();

  EXPECT_EQ(received.load(), edges);
}

// One thread reads, one writes, a third one closes; nobody hangs, and the
// number is never read by its next owner's reader.
TEST(SourceThreadsTest, CloseFromAnotherThreadResumesReadersAndWriters) {
  const int before = OpenDescriptors();
  for (int round = 0; round < (IsLong() ? 5'000 : 200); ++round) {
    ReactorScope scope;
    Pair pair;
    const auto run = [&](Direction direction) {
      char buffer[4096] = {};
      const auto op = [&](int fd) {
        return direction == Direction::kRead
                   ? recv(fd, buffer, sizeof(buffer), 0)
                   : send(fd, buffer, sizeof(buffer), MSG_NOSIGNAL);
      };
      for (;;) {
        auto future = pair.source->AsyncIo(direction, op);
        const IoResult result = BlockOn(future);
        if (result.ok()) continue;
        EXPECT_TRUE(result.IsClosed());
        return;
      }
    };
    std::thread reader(run, Direction::kRead);
    std::thread writer(run, Direction::kWrite);
    for (int i = 0; i < round % 7; ++i) std::this_thread::yield();

    std::thread closer([&] { pair.source->Close(); });

    reader.join();
    writer.join();
    closer.join();
    pair.peer.Reset();
  }
  // The service thread's two may have come.
  EXPECT_LE(OpenDescriptors(), before + 2);
}

TEST(SourceThreadsTest, SeveralThreadsBindOneSourceOnce) {
  for (int round = 0; round < (IsLong() ? 5'000 : 300); ++round) {
    Pair pair(SOCK_DGRAM);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        char byte;
        const auto op = [&](int fd) { return read(fd, &byte, 1); };
        auto future = pair.source->AsyncIo(Direction::kRead, op);
        EXPECT_TRUE(BlockOn(future).ok());
      });
    }
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(send(pair.peer.get(), "x", 1, MSG_NOSIGNAL), 1);
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// The reactor is closed while others wait on it, bind to it and leave it.
TEST(SourceThreadsTest, ReactorMayCloseAtAnyTime) {
  for (int round = 0; round < (IsLong() ? 5'000 : 200); ++round) {
    std::unique_ptr<Reactor> reactor = std::move(*Reactor::Create());
    Environment environment;
    environment.reactor = reactor.get();
    std::atomic<int> bound{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        Pair waits;
        Pair leaves;
        std::optional<ReadinessFuture> wait;
        std::optional<ReadinessFuture> leave;
        {
          const EnvironmentScope scope(environment);
          Context cx(NoopWaker());
          static_cast<void>(wait.emplace(waits.source->Readable()).Poll(cx));
          static_cast<void>(leave.emplace(leaves.source->Readable()).Poll(cx));
          bound.fetch_add(1);
        }
        leaves.source->Close();
        EXPECT_THAT(BlockOn(*wait), StatusIs(absl::StatusCode::kUnavailable));
      });
    }
    while (bound.load() != 3) std::this_thread::yield();
    reactor.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(SourceThreadsTest, IntoFdWaitsForCallsInProgress) {
  for (int round = 0; round < 300; ++round) {
    Pair pair;
    std::atomic<bool> in_call{false};
    std::atomic<bool> left{false};
    const auto op = [&](int) {
      in_call.store(true);
      for (int i = 0; i < 10; ++i) std::this_thread::yield();
      left.store(true);
      return 0;
    };
    auto future = pair.source->AsyncIo(Direction::kWrite, op);
    std::thread user([&] { EXPECT_TRUE(BlockOn(future).ok()); });
    while (!in_call.load()) std::this_thread::yield();

    const Fd fd = std::move(*pair.source).IntoFd();

    EXPECT_TRUE(left.load());
    EXPECT_TRUE(fd.IsValid());
    user.join();
  }
}

// A read with a limit, from a peer that is silent until the limit is over, into
// a buffer that then is used for something else.
TEST(SourceThreadsTest, NobodyWritesToTheBufferOfACancelledRead) {
  std::unique_ptr<Reactor> reactor = std::move(*Reactor::Create());
  timer::Timers timers(*reactor);
  Environment environment;
  environment.driver = &timers;
  environment.timers = &timers;
  environment.reactor = reactor.get();
  const EnvironmentScope scope(environment);
  const std::vector<char> flood(64 << 10, 'f');

  for (int round = 0; round < (IsLong() ? 10'000 : 300); ++round) {
    Pair pair;
    char buffer[4096];
    const auto op = [&](int fd) { return read(fd, buffer, sizeof(buffer)); };
    const absl::StatusOr<IoResult> result = BlockOn(timer::Timeout(
        absl::Milliseconds(1), pair.source->AsyncIo(Direction::kRead, op)));
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kDeadlineExceeded));
    std::memset(buffer, 'p', sizeof(buffer));
    EXPECT_GT(send(pair.peer.get(), flood.data(), flood.size(), MSG_NOSIGNAL),
              0);
    reactor->Park(Instant::Past());

    for (char c : buffer) ASSERT_EQ(c, 'p');
    // Nothing was consumed either.
    EXPECT_EQ(BlockOn(pair.source->AsyncIo(Direction::kRead, op)).value(),
              sizeof(buffer));
  }
}

}  // namespace
}  // namespace weft::io
