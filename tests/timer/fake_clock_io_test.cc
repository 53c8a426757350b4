// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A FakeClock where real descriptors are waited for too.
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/io/pipe.h"
#include "weft/io/reactor.h"
#include "weft/io/read.h"
#include "weft/io/write_all.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/sleep.h"
#include "weft/timer/timeout.h"
#include "weft/timer/timers.h"

namespace weft::timer {
namespace {

constexpr int kRounds = 200;

// Sends a byte when it gets one, `kRounds` times; the first one has it.
Task<absl::Status> Play(io::Pipe* in, io::Pipe* out, bool first) {
  char byte[1];
  for (int i = 0; i < kRounds; ++i) {
    if (i > 0 || !first) {
      const auto read = co_await io::Read(in->reader, byte);
      if (!read.ok()) co_return read.status();
    }
    absl::Status sent = co_await io::WriteAll(out->writer, std::string("x"));
    if (!sent.ok()) co_return sent;
  }
  co_return absl::OkStatus();
}

template <class E>
class FakeClockIoTest : public testing::Test {};
using Executors = testing::Types<Executor, LocalExecutor>;
TYPED_TEST_SUITE(FakeClockIoTest, Executors);

// Two tasks pass a byte to and fro through the kernel; both have an hour.
TYPED_TEST(FakeClockIoTest, TimeStandsStillWhileDescriptorsAreReady) {
  auto reactor = io::Reactor::Create();
  ASSERT_THAT(reactor, IsOk());
  FakeClock clock;
  Timers timers(**reactor, clock);
  Environment environment;
  environment.driver = &timers;
  environment.timers = &timers;
  environment.reactor = reactor->get();
  environment.clock = &clock;
  const EnvironmentScope scope(environment);
  io::Pipe a = std::move(*io::Pipe::Create());
  io::Pipe b = std::move(*io::Pipe::Create());
  TypeParam executor;

  auto first = executor.SpawnBorrowing(
      Timeout(absl::Hours(1), Play(&a, &b, /*first=*/true)));
  auto second = executor.SpawnBorrowing(
      Timeout(absl::Hours(1), Play(&b, &a, /*first=*/false)));
  EXPECT_THAT(executor.Run(first), IsOk());
  EXPECT_THAT(executor.Run(second), IsOk());
  EXPECT_EQ(clock.Now(), FakeClock::kStart);

  executor.Run(After(absl::Hours(2)));
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Hours(2));
}

}  // namespace
}  // namespace weft::timer
