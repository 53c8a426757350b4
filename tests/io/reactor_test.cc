// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/reactor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/pipe.h"
#include "weft/io/reactor_core.h"
#include "weft/io/readiness.h"
#include "weft/io/source.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/instant.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/io/open_descriptors.h"
#include "weft/tests/io/reactor_scope.h"

namespace weft::io {
namespace {

std::unique_ptr<Reactor> Make() { return std::move(*Reactor::Create()); }

// A reactor that watches a descriptor, or none and so sleeps elsewhere.
class ReactorSleepTest : public testing::TestWithParam<bool> {
 protected:
  ReactorSleepTest() {
    if (!GetParam()) return;
    pipe_ = *Pipe::Create();
    Context cx(waker_.waker());
    EXPECT_TRUE(
        pipe_->reader.PollRead(cx, std::span<char>(&byte_, 1)).IsPending());
  }

  Reactor& reactor() { return scope_.reactor(); }

 private:
  ReactorScope scope_;
  CountingWaker waker_;
  char byte_ = 0;
  std::optional<Pipe> pipe_;
};

INSTANTIATE_TEST_SUITE_P(All, ReactorSleepTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "WatchesOne" : "WatchesNone";
                         });

TEST_P(ReactorSleepTest, ParksUntilTheDeadlineAndNotLess) {
  for (absl::Duration wait : {absl::Microseconds(50), absl::Microseconds(700),
                              absl::Milliseconds(3)}) {
    const Instant deadline = Instant::Now() + wait;
    reactor().Park(deadline);

    EXPECT_GE(Instant::Now(), deadline);
    EXPECT_EQ(reactor().stats().events, 0u);
  }
}

TEST_P(ReactorSleepTest, PastDeadlineDoesNotWait) {
  reactor().Park(Instant::Past());
  reactor().Park(Instant::FromNanoseconds(0));
  reactor().Park(Instant::Now() - absl::Hours(1));

  // Not at all, where there is nothing to look at.
  EXPECT_EQ(reactor().stats().waits, GetParam() ? 3u : 2u);
}

// A kernel without epoll_pwait2 waits in whole milliseconds; never less than
// asked for, and without spinning through the last one.
TEST_P(ReactorSleepTest, MillisecondWaitsAreRoundedUp) {
  io_internal::ReactorCore& core = reactor().core();
  core.ForceMillisecondWait();
  const Instant deadline = Instant::Now() + absl::Microseconds(1300);

  core.Park(deadline);

  EXPECT_GE(Instant::Now(), deadline);
  EXPECT_EQ(core.counters().waits.load(), 1u);
  core.Park(Instant::Past());
  Waker unparker = core.Unparker();
  unparker.WakeByRef();
  core.Park(Instant::Infinite());
  core.Park(Instant::Now() + absl::Milliseconds(1));
}

TEST_P(ReactorSleepTest, UnparkIsSticky) {
  Waker unparker = reactor().Unparker();

  unparker.WakeByRef();
  reactor().Park(Instant::Infinite());

  EXPECT_EQ(reactor().stats().wake_calls, 0u);
  const Instant deadline = Instant::Now() + absl::Milliseconds(2);
  reactor().Park(deadline);
  EXPECT_GE(Instant::Now(), deadline);
}

TEST(ReactorTest, UnparkersAreOneAndOutliveTheReactor) {
  std::optional<Waker> kept;
  const int before = OpenDescriptors();
  {
    std::unique_ptr<Reactor> reactor = Make();
    kept = reactor->Unparker();
    EXPECT_TRUE(kept->WillWake(reactor->Unparker()));
    EXPECT_FALSE(kept->WillWake(Make()->Unparker()));
  }

  kept->WakeByRef();
  kept.reset();

  EXPECT_EQ(OpenDescriptors(), before);
}

// A thread that sleeps where no descriptor is watched finds that another one has
// registered one.
TEST(ReactorTest, ARegistrationReachesAThreadThatSleeps) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 50'000 : 1'000;
  ReactorScope scope;
  std::atomic<bool> over{false};
  std::thread sleeper([&] {
    while (!over.load()) scope.reactor().Park(Instant::Infinite());
  });
  for (int i = 0; i < rounds; ++i) {
    Pipe pipe = *Pipe::Create();
    CountingWaker waker;
    Context cx(waker.waker());
    char byte = 'x';
    ASSERT_TRUE(
        pipe.reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
    ASSERT_TRUE(pipe.writer.PollWrite(cx, std::span<char>(&byte, 1)).IsReady());
    // Nobody else wakes the sleeper.
    while (waker.wakes() == 0) std::this_thread::yield();
  }
  over.store(true);
  scope.reactor().Unparker().Wake();
  sleeper.join();
}

// However many wakes there are, a park costs at most one of them a system call.
TEST(ReactorTest, AnotherThreadMayLookForTheOneThatIsAway) {
  ReactorScope scope;
  Pipe pipe = *Pipe::Create();
  CountingWaker waker;
  Context cx(waker.waker());
  char byte = 'x';
  ASSERT_TRUE(pipe.reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
  ASSERT_TRUE(pipe.writer.PollWrite(cx, std::span<char>(&byte, 1)).IsReady());
  scope.reactor().Unparker().Wake();

  bool looked = false;
  std::thread([&] { looked = scope.reactor().TryPoll(); }).join();
  EXPECT_TRUE(looked);
  EXPECT_EQ(waker.wakes(), 1);
  // The unpark was for this thread, which does not sleep now.
  scope.reactor().Park(Instant::Infinite());
}

TEST(ReactorTest, NobodyLooksWhileAThreadIsParked) {
  ReactorScope scope;
  Pipe pipe = *Pipe::Create();
  CountingWaker waker;
  Context cx(waker.waker());
  char byte = 0;
  ASSERT_TRUE(pipe.reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
  std::atomic<bool> looked{false};
  std::thread other([&] {
    // False as soon as the other one sleeps.
    while (scope.reactor().TryPoll()) std::this_thread::yield();
    looked.store(true);
    scope.reactor().Unparker().Wake();
  });
  while (!looked.load()) scope.reactor().Park(Instant::Infinite());
  other.join();
}

TEST_P(ReactorSleepTest, WakesFromOtherThreadsAreCoalesced) {
  const bool is_long = std::getenv("WEFT_LONG") != nullptr;
  const uint64_t per_thread = is_long ? 1'000'000 : 100'000;
  constexpr int kThreads = 3;
  std::atomic<uint64_t> sent{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, unparker = reactor().Unparker()] {
      for (uint64_t n = 0; n < per_thread; ++n) {
        sent.fetch_add(1);
        unparker.WakeByRef();
      }
    });
  }

  while (sent.load() < kThreads * per_thread) {
    reactor().Park(Instant::Infinite());
  }
  for (std::thread& thread : threads) thread.join();

  const ReactorStats stats = reactor().stats();
  EXPECT_LE(stats.wake_calls, stats.waits);
  EXPECT_LE(stats.waits, kThreads * per_thread + 1);
}

// Each wake that comes while the thread sleeps ends that sleep.
TEST_P(ReactorSleepTest, NoWakeIsLost) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 200'000 : 5'000;
  std::atomic<int> ping{0};
  std::atomic<int> pong{0};
  std::thread other([&, unparker = reactor().Unparker()] {
    for (int i = 1; i <= rounds; ++i) {
      ping.store(i, std::memory_order_relaxed);  // the wake publishes it
      unparker.WakeByRef();
      while (pong.load() != i) std::this_thread::yield();
    }
  });

  for (int i = 1; i <= rounds; ++i) {
    while (ping.load(std::memory_order_relaxed) != i) {
      reactor().Park(Instant::Infinite());
    }
    pong.store(i);
  }
  other.join();

  EXPECT_LE(reactor().stats().wake_calls, static_cast<uint64_t>(rounds));
}

TEST(ReactorTest, MoreEventsThanFitInOneWait) {
  ReactorScope scope;
  constexpr size_t kPipes = 700;
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < 2 * kPipes + 100) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 2 * kPipes + 100);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<Pipe> pipes;
  char byte = 'x';
  for (size_t i = 0; i < kPipes; ++i) {
    pipes.push_back(std::move(*Pipe::Create()));
    ASSERT_TRUE(
        pipes[i].reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
    ASSERT_TRUE(
        pipes[i].writer.PollWrite(cx, std::span<char>(&byte, 1)).IsReady());
  }

  for (int i = 0; i < 10 && waker.wakes() < 700; ++i) scope.Turn();

  EXPECT_EQ(waker.wakes(), 700);
  EXPECT_LE(scope.reactor().stats().waits, 5u);
}

// A task that one event wakes closes the descriptor of a later event of the
// same batch, and the number is taken by somebody else before that event is
// looked at.
class Reuse {
 public:
  explicit Reuse(Context& third_cx) : third_cx_(third_cx) {
    victim_.emplace(std::move(*Pipe::Create()));
  }

  PipeReader& victim() { return victim_->reader; }
  PipeWriter& victims_writer() { return victim_->writer; }
  bool is_done() const { return !victim_.has_value(); }

  const Waker& waker() const { return waker_.get(); }

 private:
  static const WakerVTable kVTable;

  static void Run(void* data) {
    auto* self = static_cast<Reuse*>(data);
    if (self->is_done()) return;
    const auto number = [](int fd) { return fd; };
    const size_t old = self->victim().source().Call(number).value();
    self->victim_.reset();
    self->third_.emplace(std::move(*Pipe::Create()));
    PipeReader& reader = self->third_->reader;
    EXPECT_EQ(reader.source().Call(number).value(), old);
    char byte;
    EXPECT_TRUE(reader.PollRead(self->third_cx_, std::span<char>(&byte, 1))
                    .IsPending());
  }

  Context& third_cx_;
  std::optional<Pipe> victim_;
  std::optional<Pipe> third_;
  const BorrowedWaker waker_{&kVTable, this};
};

const WakerVTable Reuse::kVTable = {
    .clone = [](void* data) { return Waker(&kVTable, data); },
    .wake = &Reuse::Run,
    .wake_by_ref = &Reuse::Run,
    .drop = [](void*) {},
};

TEST(ReactorTest, EventOfAReusedNumberInOneBatchIsDropped) {
  ReactorScope scope;
  CountingWaker third;
  Context third_cx(third.waker());
  Reuse reuse(third_cx);
  CountingWaker waker;
  Context cx(waker.waker());
  Context reuse_cx(reuse.waker());
  char byte = 'x';
  // The first one wakes `reuse`, the rest fill the list of wakers, so that
  // these are called before the last event, the victim's, is looked at.
  std::vector<Pipe> pipes;
  for (int i = 0; i < 40; ++i) pipes.push_back(std::move(*Pipe::Create()));
  for (Pipe& pipe : pipes) {
    ASSERT_TRUE(pipe.reader
                    .PollRead(&pipe == &pipes[0] ? reuse_cx : cx,
                              std::span<char>(&byte, 1))
                    .IsPending());
  }
  ASSERT_TRUE(
      reuse.victim().PollRead(cx, std::span<char>(&byte, 1)).IsPending());
  for (Pipe& pipe : pipes) {
    ASSERT_TRUE(pipe.writer.PollWrite(cx, std::span<char>(&byte, 1)).IsReady());
  }
  ASSERT_TRUE(reuse.victims_writer()
                  .PollWrite(cx, std::span<char>(&byte, 1))
                  .IsReady());

  scope.Turn();

  EXPECT_TRUE(reuse.is_done());
  EXPECT_EQ(scope.reactor().stats().stale_events, 1u);
  EXPECT_EQ(third.wakes(), 0);
  // The 39 of the crowd, and the victim's own, whose source was closed.
  EXPECT_EQ(waker.wakes(), 40);
}

TEST(ReactorTest, ClosingWakesEverySource) {
  std::optional<ReactorScope> scope(std::in_place);
  constexpr size_t kPipes = 100;
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<Pipe> pipes;
  char byte;
  for (size_t i = 0; i < kPipes; ++i) {
    pipes.push_back(std::move(*Pipe::Create()));
    ASSERT_TRUE(
        pipes[i].reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
  }

  scope->Close();

  EXPECT_EQ(waker.wakes(), 100);
  for (Pipe& pipe : pipes) {
    EXPECT_THAT(*pipe.reader.PollRead(cx, std::span<char>(&byte, 1)),
                StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_EQ(waker.outstanding(), 0);
}

// A source that outlives its reactor must not disturb the next one, which may
// use the same memory and the same numbers.
TEST(ReactorTest, LateSourcesDoNotTouchTheNextReactor) {
  char byte = 'x';
  CountingWaker late_waker;
  Context late_cx(late_waker.waker());
  Pipe late = std::move(*Pipe::Create());
  {
    ReactorScope scope;
    ASSERT_TRUE(
        late.reader.PollRead(late_cx, std::span<char>(&byte, 1)).IsPending());
  }
  ReactorScope scope;
  CountingWaker waker;
  Context cx(waker.waker());
  Pipe pipe = std::move(*Pipe::Create());
  ASSERT_TRUE(pipe.reader.PollRead(cx, std::span<char>(&byte, 1)).IsPending());
  late.reader.Close();

  ASSERT_TRUE(pipe.writer.PollWrite(cx, std::span<char>(&byte, 1)).IsReady());
  scope.Turn();

  EXPECT_EQ(waker.wakes(), 1);
}

// All descriptors but a few are taken: the call that fails is named, nothing
// leaks, and once there are descriptors again it works.
TEST(ReactorTest, ExhaustedDescriptorsAreAStatus) {
  const int before = OpenDescriptors();
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit low = old;
  int highest = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) highest = fd;
  }
  low.rlim_cur = static_cast<rlim_t>(highest) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<Fd> holes;
  for (int fd = dup(0); fd >= 0; fd = dup(0)) holes.emplace_back(fd);

  // Looked at only after the shortage, because a sanitizer needs a descriptor
  // to look at an object with virtual functions.
  const absl::Status no_epoll = Reactor::Create().status();
  const absl::Status no_pipe = Pipe::Create().status();
  low.rlim_cur += 1;
  setrlimit(RLIMIT_NOFILE, &low);
  const absl::Status no_eventfd = Reactor::Create().status();
  const absl::Status half_a_pipe = Pipe::Create().status();
  setrlimit(RLIMIT_NOFILE, &old);
  holes.clear();

  EXPECT_THAT(no_epoll, ErrnoIs(EMFILE));
  EXPECT_THAT(std::string(no_epoll.message()),
              testing::StartsWith("epoll_create1"));
  EXPECT_THAT(no_eventfd, ErrnoIs(EMFILE));
  EXPECT_THAT(std::string(no_eventfd.message()),
              testing::StartsWith("eventfd"));
  EXPECT_THAT(no_pipe, ErrnoIs(EMFILE));
  EXPECT_THAT(half_a_pipe, ErrnoIs(EMFILE));
  EXPECT_THAT(Reactor::Create(), IsOk());
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace weft::io
