// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/process/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/io/reactor.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"

namespace weft::process {
namespace {

static_assert(Stream<Signals>);

Signals Listen(std::initializer_list<int> numbers) {
  return std::move(*Signals::Create(numbers));
}

std::optional<int> Wait(Signals& signals) {
  const auto poll = [&](Context& cx) { return signals.PollNext(cx); };
  return BlockOn(PollFn(poll));
}

// What has come; nullopt if nothing.
std::optional<int> TryNext(Signals& signals) {
  Context cx(NoopWaker());
  Polled<std::optional<int>> next = signals.PollNext(cx);
  return next.IsReady() ? *next : std::nullopt;
}

TEST(SignalsTest, SignalBeforeTheFirstWaitIsDelivered) {
  Signals signals = Listen({SIGUSR1});

  raise(SIGUSR1);

  EXPECT_EQ(Wait(signals), SIGUSR1);
  EXPECT_EQ(TryNext(signals), std::nullopt);
}

TEST(SignalsTest, EveryListenerHears) {
  Signals first = Listen({SIGUSR1});
  std::optional<Signals> second(Listen({SIGUSR1, SIGUSR2}));

  raise(SIGUSR1);

  EXPECT_EQ(Wait(first), SIGUSR1);
  EXPECT_EQ(Wait(*second), SIGUSR1);
  EXPECT_EQ(TryNext(first), std::nullopt);
  EXPECT_EQ(TryNext(*second), std::nullopt);

  second.reset();
  raise(SIGUSR1);

  EXPECT_EQ(Wait(first), SIGUSR1);
  EXPECT_EQ(TryNext(first), std::nullopt);
}

TEST(SignalsTest, SetsAreSeparate) {
  Signals first = Listen({SIGUSR1});
  Signals second = Listen({SIGUSR2});

  raise(SIGUSR2);

  EXPECT_EQ(Wait(second), SIGUSR2);
  EXPECT_EQ(TryNext(first), std::nullopt);
}

TEST(SignalsTest, RepeatedOnesCountOnceAndDifferentOnesEach) {
  Signals signals = Listen({SIGUSR2, SIGUSR1, SIGUSR1, SIGHUP});

  for (int i = 0; i < 3; ++i) {
    raise(SIGUSR2);
    raise(SIGUSR1);
  }

  EXPECT_EQ(Wait(signals), SIGUSR1);
  EXPECT_EQ(Wait(signals), SIGUSR2);
  EXPECT_EQ(TryNext(signals), std::nullopt);
}

TEST(SignalsTest, WakesTheWaitingTaskAlsoAfterAMove) {
  std::unique_ptr<io::Reactor> reactor = std::move(*io::Reactor::Create());
  Environment environment;
  environment.driver = environment.reactor = reactor.get();
  const EnvironmentScope scope(environment);
  Signals signals = Listen({SIGUSR1});
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(signals.PollNext(cx).IsPending());
  Signals moved = std::move(signals);

  raise(SIGUSR1);
  while (waker.wakes() == 0) reactor->Park(Instant::Infinite());

  EXPECT_EQ(**moved.PollNext(cx), SIGUSR1);
  EXPECT_TRUE(moved.PollNext(cx).IsPending());
}

// Keeps SIGUSR1 from the calling thread, so that it is known which one it
// interrupts. (ThreadSanitizer delays the handlers of signals that come to a
// thread from outside, for ever if the thread then sleeps in the kernel.)
void KeepSignalsAway() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

TEST(SignalsTest, WorksWithSeveralReactors) {
  std::vector<std::thread> threads;
  std::atomic<int> listening{0};
  std::atomic<int> heard{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      KeepSignalsAway();
      std::unique_ptr<io::Reactor> reactor;
      Environment environment;
      if (i % 2 == 0) {
        reactor = std::move(*io::Reactor::Create());
        environment.driver = environment.reactor = reactor.get();
      }
      const EnvironmentScope scope(environment);
      Signals signals = Listen({SIGUSR1});
      ++listening;
      EXPECT_EQ(Wait(signals), SIGUSR1);
      ++heard;
    });
  }
  while (listening.load() != 4) std::this_thread::yield();

  kill(getpid(), SIGUSR1);

  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heard.load(), 4);
}

TEST(SignalsTest, ClosedReactorEndsTheStreamWithAReason) {
  std::unique_ptr<io::Reactor> reactor = std::move(*io::Reactor::Create());
  Environment environment;
  environment.reactor = reactor.get();
  Signals signals = Listen({SIGUSR1});
  {
    const EnvironmentScope scope(environment);
    EXPECT_EQ(TryNext(signals), std::nullopt);
    EXPECT_THAT(signals.status(), IsOk());
  }

  reactor.reset();

  EXPECT_EQ(Wait(signals), std::nullopt);
  EXPECT_THAT(signals.status(), StatusIs(absl::StatusCode::kUnavailable));
}

std::atomic<int> earlier_calls{0};
void EarlierHandler(int) { ++earlier_calls; }
void EarlierInfoHandler(int, siginfo_t* info, void*) {
  earlier_calls += info->si_value.sival_int;
}

struct sigaction ActionOf(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  return action;
}

TEST(SignalsTest, EarlierHandlerIsCalledAndPutBack) {
  struct sigaction earlier = {};
  earlier.sa_handler = &EarlierHandler;
  struct sigaction old;
  ASSERT_EQ(sigaction(SIGUSR2, &earlier, &old), 0);
  earlier_calls = 0;
  std::optional<Signals> first(Listen({SIGUSR2}));
  std::optional<Signals> second(Listen({SIGUSR2}));
  EXPECT_NE(ActionOf(SIGUSR2).sa_handler, &EarlierHandler);

  raise(SIGUSR2);
  EXPECT_EQ(Wait(*first), SIGUSR2);
  EXPECT_EQ(earlier_calls, 1);
  first.reset();
  EXPECT_NE(ActionOf(SIGUSR2).sa_handler, &EarlierHandler);
  second.reset();

  EXPECT_EQ(ActionOf(SIGUSR2).sa_handler, &EarlierHandler);
  raise(SIGUSR2);
  EXPECT_EQ(earlier_calls, 2);
  sigaction(SIGUSR2, &old, nullptr);
}

TEST(SignalsTest, EarlierHandlerGetsTheInformation) {
  struct sigaction earlier = {};
  earlier.sa_sigaction = &EarlierInfoHandler;
  earlier.sa_flags = SA_SIGINFO;
  struct sigaction old;
  ASSERT_EQ(sigaction(SIGUSR2, &earlier, &old), 0);
  earlier_calls = 0;
  {
    Signals signals = Listen({SIGUSR2});
    sigval value;
    value.sival_int = 42;
    ASSERT_EQ(sigqueue(getpid(), SIGUSR2, value), 0);
    EXPECT_EQ(Wait(signals), SIGUSR2);
  }

  EXPECT_EQ(earlier_calls, 42);
  sigaction(SIGUSR2, &old, nullptr);
}

// Somebody installs a handler on top that calls ours, and then we come again.
struct sigaction below;
void HandlerOnTop(int number, siginfo_t* info, void* context) {
  below.sa_sigaction(number, info, context);
}

TEST(SignalsTest, HandlersOnTopAreLeftAloneAndMakeNoLoop) {
  struct sigaction original = ActionOf(SIGUSR2);
  std::optional<Signals> first(Listen({SIGUSR2}));
  struct sigaction top = {};
  top.sa_sigaction = &HandlerOnTop;
  top.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGUSR2, &top, &below), 0);

  first.reset();
  EXPECT_EQ(ActionOf(SIGUSR2).sa_sigaction, &HandlerOnTop);
  Signals second = Listen({SIGUSR2});
  raise(SIGUSR2);

  EXPECT_EQ(Wait(second), SIGUSR2);
  {
    Signals moved = std::move(second);
  }
  sigaction(SIGUSR2, &original, nullptr);
}

TEST(SignalsTest, DefaultActionIsPutBack) {
  EXPECT_EQ(ActionOf(SIGUSR1).sa_handler, SIG_DFL);
  {
    const Signals signals = Listen({SIGUSR1});
    EXPECT_NE(ActionOf(SIGUSR1).sa_handler, SIG_DFL);
  }
  EXPECT_EQ(ActionOf(SIGUSR1).sa_handler, SIG_DFL);
}

TEST(SignalsTest, HearsWhatWasIgnored) {
  signal(SIGHUP, SIG_IGN);
  {
    Signals signals = Listen({SIGHUP});
    raise(SIGHUP);
    EXPECT_EQ(Wait(signals), SIGHUP);
  }
  EXPECT_EQ(ActionOf(SIGHUP).sa_handler, SIG_IGN);
  signal(SIGHUP, SIG_DFL);
}

TEST(SignalsTest, IgnoredChildrenLeaveNoZombiesMeanwhile) {
  // In a reactor, where ThreadSanitizer knows that the thread sleeps.
  std::unique_ptr<io::Reactor> reactor = std::move(*io::Reactor::Create());
  Environment environment;
  environment.driver = environment.reactor = reactor.get();
  const EnvironmentScope scope(environment);
  signal(SIGCHLD, SIG_IGN);
  {
    Signals signals = Listen({SIGCHLD});
    const pid_t child = fork();
    if (child == 0) _exit(0);
    EXPECT_EQ(Wait(signals), SIGCHLD);
    EXPECT_EQ(waitpid(child, nullptr, 0), -1);
    EXPECT_EQ(errno, ECHILD);
  }
  signal(SIGCHLD, SIG_DFL);
}

TEST(SignalsTest, RefusesWhatCannotBeHeard) {
  for (int number : {0, -1, 65, 999, SIGKILL, SIGSTOP, SIGSEGV, SIGFPE, SIGILL,
                     SIGBUS, SIGTRAP}) {
    EXPECT_THAT(Signals::Create({SIGUSR1, number}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::HasSubstr(std::to_string(number))));
  }
  // The C library keeps these for itself.
  EXPECT_THAT(Signals::Create({SIGUSR1, 32}), ErrnoIs(EINVAL));
  // Nothing is left behind.
  EXPECT_EQ(ActionOf(SIGUSR1).sa_handler, SIG_DFL);
}

TEST(SignalsTest, EmptySetHearsNothing) {
  Signals signals = Listen({});

  EXPECT_EQ(TryNext(signals), std::nullopt);
  EXPECT_THAT(signals.status(), IsOk());
}

TEST(SignalsTest, SpentBudgetMakesItYield) {
  Signals signals = Listen({SIGUSR1});
  raise(SIGUSR1);
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(signals.PollNext(cx).IsPending());

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(Wait(signals), SIGUSR1);
}

// Listeners come and go while handlers run on other threads and their own; one
// that stays hears the last signal.
TEST(SignalsTest, ListenersMayComeAndGoAtAnyTime) {
  Signals stays = Listen({SIGUSR1});
  std::atomic<bool> stop{false};
  std::thread rain([&] {
    while (!stop.load()) {
      raise(SIGUSR1);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 300; ++round) {
        Signals signals = Listen({SIGUSR1, SIGUSR2});
        if (round % 10 != 0) continue;
        raise(SIGUSR1);
        EXPECT_EQ(Wait(signals), SIGUSR1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop.store(true);
  rain.join();
  while (TryNext(stays).has_value()) {
  }

  raise(SIGUSR1);

  EXPECT_EQ(Wait(stays), SIGUSR1);
}

}  // namespace
}  // namespace weft::process
