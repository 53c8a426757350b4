// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_stream.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/io/async_io.h"
#include "weft/io/io_result.h"
#include "weft/io/read.h"
#include "weft/io/write.h"
#include "weft/io/write_all.h"
#include "weft/net/simulated_network.h"
#include "weft/select/join.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/net/simulated_talk.h"

namespace weft::net {
namespace {

static_assert(io::AsyncRead<SimulatedStream> &&
              io::AsyncWrite<SimulatedStream>);

using testing::AnyOf;
using testing::HasSubstr;
using std::string_view_literals::operator""sv;

// What can be written at once, all of it.
size_t Fill(SimulatedStream& stream) {
  Context cx(NoopWaker());
  const std::string much = Pattern(1000);
  size_t written = 0;
  for (;;) {
    Polled<absl::StatusOr<size_t>> n = stream.PollWrite(cx, much);
    if (n.IsPending()) return written;
    EXPECT_THAT(*n, IsOk());
    written += n->value_or(0);
  }
}

// What can be read at once.
size_t Drain(SimulatedStream& stream) {
  Context cx(NoopWaker());
  std::array<char, 1000> sink;
  size_t read = 0;
  for (;;) {
    Polled<absl::StatusOr<size_t>> n = stream.PollRead(cx, sink);
    if (n.IsPending()) return read;
    EXPECT_THAT(*n, IsOk());
    read += n->value_or(0);
  }
}

TEST(SimulatedStreamTest, Talks) {
  SimulatedTalk talk;
  EXPECT_EQ(talk.client.local_address(), "client:49152");
  EXPECT_EQ(talk.client.peer_address(), "server:80");
  EXPECT_EQ(talk.server.local_address(), "server:80");
  EXPECT_EQ(talk.server.peer_address(), "client:49152");

  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "hello"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.server, 5)), IsOkAndHolds("hello"));
  EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "world"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.client, 5)), IsOkAndHolds("world"));
  EXPECT_THAT(talk.Run(io::Flush(talk.client)), IsOk());
}

TEST(SimulatedStreamTest, NothingIsReadIntoNothing) {
  SimulatedTalk talk;

  EXPECT_THAT(talk.Run(io::Read(talk.server, std::span<char>())),
              IsOkAndHolds(0u));
  EXPECT_THAT(talk.Run(io::Write(talk.server, std::span<const char>())),
              IsOkAndHolds(0u));
}

TEST(SimulatedStreamTest, WhatWasWrittenIsOnItsWay) {
  SimulatedTalk talk(1, {.latency_min = absl::Milliseconds(5),
                         .latency_max = absl::Milliseconds(5)});
  CountingWaker waker;
  Context cx(waker.waker());
  std::array<char, 10> buffer;
  EXPECT_TRUE(talk.server.PollRead(cx, buffer).IsPending());
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());

  talk.Pass(absl::Milliseconds(4));
  EXPECT_EQ(waker.wakes(), 0u);
  talk.Pass(absl::Milliseconds(1));
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_THAT(talk.Run(io::Read(talk.server, buffer)), IsOkAndHolds(1u));
}

// ---- Order ----

// Sends `there` and `back` at the same time, over a network as bad as `random` says.
void Exchange(uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  SimulatedTalk talk(seed,
                     {.latency_max = absl::Milliseconds(random.Below(50) + 1),
                      .loss = random.Below(4) * 0.1,
                      .timeout = absl::InfiniteDuration(),
                      .cut = random.Below(3) * 0.5,
                      .window = random.Below(3000) + 1});
  const std::string there = Pattern(random.Below(10'000));
  const std::string back = Pattern(random.Below(10'000));
  const auto results =
      talk.Run(Join(SendAll(talk.client, there), SendAll(talk.server, back),
                    ReceiveAll(talk.client), ReceiveAll(talk.server)));
  ASSERT_THAT(results, IsOk());
  EXPECT_THAT(std::get<0>(*results), IsOk());
  EXPECT_THAT(std::get<1>(*results), IsOk());
  EXPECT_THAT(std::get<2>(*results), IsOkAndHolds(back));
  EXPECT_THAT(std::get<3>(*results), IsOkAndHolds(there));
}

TEST(SimulatedStreamTest, BytesArriveInOrderWhateverTheSeed) {
  const uint64_t seeds = std::getenv("WEFT_LONG") != nullptr ? 10'000 : 200;
  for (uint64_t seed = 0; seed < seeds && !testing::Test::HasFailure();
       ++seed) {
    Exchange(seed);
  }
}

TEST(SimulatedStreamTest, WritesAndReadsAreCut) {
  std::set<size_t> written;
  std::set<size_t> read;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SimulatedTalk talk(seed);
    std::array<char, 4> buffer;
    written.insert(*talk.Run(io::Write(talk.client, "abcd"sv)));
    EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "abcd"sv)), IsOk());
    EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
    read.insert(*talk.Run(io::Read(talk.client, buffer)));
  }
  EXPECT_THAT(written, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read, testing::ElementsAre(1, 2, 3, 4));
}

TEST(SimulatedStreamTest, NothingIsCutWhereThatIsSwitchedOff) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimulatedTalk talk(seed, {.cut = 0});
    std::array<char, 4> buffer;
    EXPECT_THAT(talk.Run(io::Write(talk.client, "abcd"sv)), IsOkAndHolds(4u));
    EXPECT_THAT(talk.Run(io::Read(talk.server, buffer)), IsOkAndHolds(4u));
  }
}

// ---- Backpressure ----

TEST(SimulatedStreamTest, AWriterWaitsForTheReader) {
  SimulatedTalk talk(1, {.window = 100});
  EXPECT_EQ(Fill(talk.client), 100u);
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(Fill(talk.client), 0u);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(talk.client.PollWrite(cx, "x"sv).IsPending());

  EXPECT_EQ(Drain(talk.server), 100u);
  EXPECT_EQ(Fill(talk.client), 0u);  // it has not heard of that
  EXPECT_TRUE(talk.client.PollWrite(cx, "x"sv).IsPending());
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_GE(Fill(talk.client), 50u);
}

TEST(SimulatedStreamTest, AWindowOfOneByteIsEnough) {
  SimulatedTalk talk(1, {.window = 1});
  const auto results = talk.Run(
      Join(SendAll(talk.client, Pattern(100)), ReceiveAll(talk.server)));
  ASSERT_THAT(results, IsOk());
  EXPECT_THAT(std::get<1>(*results), IsOkAndHolds(Pattern(100)));
}

TEST(SimulatedStreamTest, ATaskThatAlwaysCanStillYields) {
  SimulatedTalk talk;
  Budget budget(3);
  CountingWaker waker;
  Context cx(waker.waker(), &budget);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(talk.client.PollWrite(cx, "x"sv).IsReady());
  }
  EXPECT_TRUE(talk.client.PollWrite(cx, "x"sv).IsPending());
  EXPECT_EQ(waker.wakes(), 1u);
}

// ---- Its end ----

TEST(SimulatedStreamTest, AfterShutdownThePeerReadsTheEndAndMayAnswer) {
  SimulatedTalk talk;
  EXPECT_THAT(talk.Run(SendAll(talk.client, "question")), IsOk());
  EXPECT_THAT(talk.Run(io::Shutdown(talk.client)), IsOk());
  EXPECT_THAT(talk.Run(io::Write(talk.client, "x"sv)), ErrnoIs(EPIPE));

  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds("question"));
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds(""));
  EXPECT_THAT(talk.Run(SendAll(talk.server, "answer")), IsOk());
  EXPECT_THAT(talk.Run(ReceiveAll(talk.client)), IsOkAndHolds("answer"));
}

TEST(SimulatedStreamTest, ShutdownEndsAWriteThatWaitsForRoom) {
  SimulatedTalk talk(1, {.window = 4});
  JoinHandle<absl::Status> write =
      talk.executor.SpawnBorrowing([&talk]() -> Task<absl::Status> {
        co_return co_await io::WriteAll(talk.client, "too much"sv);
      });
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_FALSE(write.IsFinished());

  EXPECT_THAT(talk.Run(io::Shutdown(talk.client)), IsOk());

  EXPECT_THAT(talk.Run(write), ErrnoIs(EPIPE));
}

TEST(SimulatedStreamTest, DroppedItIsReadToItsEndAndWritingFindsOut) {
  SimulatedTalk talk;
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "last words"sv)), IsOk());
  {
    const SimulatedStream gone = std::move(talk.client);
  }

  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds("last words"));
  EXPECT_THAT(talk.Run(io::Write(talk.server, "x"sv)), IsOkAndHolds(1u));
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_THAT(talk.Run(io::Write(talk.server, "x"sv)), ErrnoIs(EPIPE));
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds(""));
}

TEST(SimulatedStreamTest, DroppedWithUnreadBytesItResetsThePeer) {
  SimulatedTalk talk;
  EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "unread"sv)), IsOk());
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  {
    const SimulatedStream gone = std::move(talk.client);
  }

  const absl::StatusOr<std::string> read = talk.Run(ReceiveAll(talk.server));
  EXPECT_THAT(read, ErrnoIs(ECONNRESET));
  EXPECT_THAT(read.status().message(), HasSubstr("recv client:49152"));
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds(""));
  EXPECT_THAT(talk.Run(io::Write(talk.server, "x"sv)), ErrnoIs(EPIPE));
  EXPECT_THAT(talk.Run(io::Shutdown(talk.server)), IsOk());
}

TEST(SimulatedStreamTest, AResetMayOvertakeWhatWasSentBefore) {
  int whole = 0;
  constexpr int kSeeds = 200;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimulatedTalk talk(seed);
    EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "unread"sv)), IsOk());
    EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
    EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "answer"sv)), IsOk());
    {
      const SimulatedStream gone = std::move(talk.server);
    }
    const absl::StatusOr<std::string> answer =
        talk.Run(Receive(talk.client, 6));
    EXPECT_TRUE(answer.ok() || absl::IsUnavailable(answer.status()))
        << answer.status();
    if (answer.ok()) {
      ++whole;
      EXPECT_EQ(*answer, "answer");
      EXPECT_THAT(talk.Run(ReceiveAll(talk.client)), ErrnoIs(ECONNRESET));
    }
  }
  EXPECT_GT(whole, kSeeds / 4);
  EXPECT_LT(whole, kSeeds * 3 / 4);
}

TEST(SimulatedStreamTest, WhatArrivesForADroppedOneIsAnsweredByAReset) {
  SimulatedTalk talk;
  EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "too late"sv)), IsOk());
  {
    const SimulatedStream gone = std::move(talk.client);
  }

  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  // The end, or the reset if that was faster.
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)),
              AnyOf(IsOkAndHolds(""), ErrnoIs(ECONNRESET)));
  EXPECT_THAT(talk.Run(io::Write(talk.server, "x"sv)), ErrnoIs(EPIPE));
}

TEST(SimulatedStreamTest, AResetWakesWhoReadsAndWhoWrites) {
  SimulatedTalk talk(1, {.window = 10});
  EXPECT_EQ(Fill(talk.server), 10u);
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  CountingWaker reader;
  CountingWaker writer;
  Context reading(reader.waker());
  Context writing(writer.waker());
  std::array<char, 10> buffer;
  EXPECT_TRUE(talk.server.PollRead(reading, buffer).IsPending());
  EXPECT_TRUE(talk.server.PollWrite(writing, "x"sv).IsPending());

  talk.client.Close();
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(reader.wakes(), 1u);
  EXPECT_EQ(writer.wakes(), 1u);
  EXPECT_THAT(talk.Run(io::Write(talk.server, "x"sv)), ErrnoIs(ECONNRESET));
  EXPECT_THAT(talk.Run(io::Read(talk.server, buffer)), IsOkAndHolds(0u));
}

TEST(SimulatedStreamTest, CloseEndsTheWaits) {
  SimulatedTalk talk;
  CountingWaker waker;
  Context cx(waker.waker());
  std::array<char, 10> buffer;
  EXPECT_TRUE(talk.client.PollRead(cx, buffer).IsPending());

  talk.client.Close();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_EQ(talk.Run(io::Read(talk.client, buffer)).status(),
            io::ClosedStatus());
  EXPECT_EQ(talk.Run(io::Write(talk.client, "x"sv)).status(),
            io::ClosedStatus());
  EXPECT_EQ(talk.Run(io::Shutdown(talk.client)), io::ClosedStatus());
  talk.client.Close();
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds(""));
}

TEST(SimulatedStreamTest, OneThatIsAssignedToIsClosed) {
  SimulatedTalk talk;
  talk.client = *talk.Run(talk.network.Connect("client", "server", 80));

  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), IsOkAndHolds(""));
  EXPECT_EQ(talk.client.local_address(), "client:49153");
}

TEST(SimulatedStreamTest, MayOutliveItsNetwork) {
  DeterministicExecutor executor({});
  std::optional<SimulatedNetwork> network(std::in_place, executor);
  auto listener = network->Listen("server", 80);
  absl::StatusOr<SimulatedStream> client =
      executor.Run(network->Connect("client", "server", 80));
  absl::StatusOr<SimulatedStream> server = executor.Run(listener->Accept());
  ASSERT_THAT(server, IsOk());
  EXPECT_THAT(executor.Run(io::WriteAll(*client, "on its way"sv)), IsOk());
  CountingWaker waker;
  Context cx(waker.waker());
  std::array<char, 10> buffer;
  EXPECT_TRUE(server->PollRead(cx, buffer).IsPending());

  network.reset();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_THAT(executor.Run(io::Read(*server, buffer)), ErrnoIs(ENETDOWN));
  EXPECT_THAT(executor.Run(io::Write(*client, "x"sv)), ErrnoIs(ENETDOWN));
  EXPECT_THAT(executor.Run(io::Write(*client, "x"sv)), ErrnoIs(EPIPE));
}

// ---- Dropping ----

TEST(SimulatedStreamTest, DroppingItWakesNobody) {
  SimulatedTalk talk;
  CountingWaker waker;
  Context cx(waker.waker());
  std::array<char, 1> byte;
  EXPECT_TRUE(talk.client.PollRead(cx, byte).IsPending());
  {
    const SimulatedStream gone = std::move(talk.client);
  }
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(waker.wakes(), 0u);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(SimulatedStreamTest, ReadsMayBeDroppedAtEveryPoll) {
  SimulatedTalk talk(1, {.cut = 0});
  std::array<char, 1> byte;
  DropAtEveryPollOptions options;
  options.step = [&] {
    EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
    return talk.executor.RunUntilIdle().ok();
  };
  // A stream keeps the last waker of a direction until the next poll.
  options.settle = [&] {
    Context cx(NoopWaker());
    EXPECT_TRUE(talk.server.PollRead(cx, byte).IsPending());
  };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return io::Read(talk.server, byte); }, options),
      IsOkAndHolds(2u));
}

TEST(SimulatedStreamTest, WritesMayBeDroppedAtEveryPoll) {
  SimulatedTalk talk(1, {.window = 1000});
  const std::string much = Pattern(1000);
  Fill(talk.client);
  DropAtEveryPollOptions options;
  options.step = [&] {
    EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
    Drain(talk.server);
    return talk.executor.RunUntilIdle().ok();
  };
  options.settle = [&] { Fill(talk.client); };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return io::Write(talk.client, much); }, options),
      IsOkAndHolds(2u));
}

// Every byte of one direction, although each wait may be given up before its end.
TEST(SimulatedStreamTest, DroppedReadsAndWritesLoseNothing) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimulatedTalk talk(seed, {.window = 50});
    Random random(seed);
    const std::string all = Pattern(1000);
    std::string sent;
    std::string received;
    std::array<char, 30> buffer;
    for (int i = 0; i < 100'000 && received.size() < all.size(); ++i) {
      CountingWaker waker;
      Context cx(waker.waker());
      if (random.Below(2) == 0) {
        const auto rest = std::string_view(all).substr(sent.size());
        auto write = io::Write(talk.client, rest);
        const Polled<absl::StatusOr<size_t>> n = write.Poll(cx);
        if (n.IsReady()) sent.append(rest, 0, **n);
      } else {
        auto read = io::Read(talk.server, buffer);
        const Polled<absl::StatusOr<size_t>> n = read.Poll(cx);
        if (n.IsReady()) received.append(buffer.data(), **n);
      }
      if (random.Below(4) == 0) talk.Pass(absl::Milliseconds(1));
    }
    ASSERT_TRUE(received == all) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft::net
