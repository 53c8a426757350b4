// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_network.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/explore.h"
#include "weft/io/async_io.h"
#include "weft/io/io_result.h"
#include "weft/io/read.h"
#include "weft/io/read_exact.h"
#include "weft/io/write_all.h"
#include "weft/net/simulated_listener.h"
#include "weft/net/simulated_network_options.h"
#include "weft/net/simulated_stream.h"
#include "weft/select/join.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/net/simulated_talk.h"
#include "weft/timer/sleep.h"

namespace weft::net {
namespace {

static_assert(Future<SimulatedConnectFuture> &&
              kMovableAfterPoll<SimulatedConnectFuture>);

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using std::string_view_literals::operator""sv;

// ---- Connecting ----

TEST(SimulatedNetworkTest, ConnectIsRefusedWhereNobodyListens) {
  DeterministicExecutor executor({});
  SimulatedNetwork network(executor, {.latency_min = absl::Milliseconds(3),
                                      .latency_max = absl::Milliseconds(4)});
  const Instant before = executor.clock().Now();
  const absl::StatusOr<SimulatedStream> stream =
      executor.Run(network.Connect("client", "server", 80));

  EXPECT_THAT(stream, ErrnoIs(ECONNREFUSED));
  EXPECT_THAT(stream, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("connect server:80")));
  EXPECT_THAT(executor.clock().Now() - before,
              AllOf(Ge(absl::Milliseconds(6)), Le(absl::Milliseconds(8))));
}

TEST(SimulatedNetworkTest, ConnectIsMadeBeforeTheAccept) {
  DeterministicExecutor executor({});
  SimulatedNetwork network(executor);
  SimulatedListener listener = *network.Listen("server", 80);
  EXPECT_THAT(executor.Run(network.Connect("client", "server", 80)), IsOk());
}

TEST(SimulatedNetworkTest, AHostMayConnectToItself) {
  DeterministicExecutor executor({});
  SimulatedNetwork network(executor);
  SimulatedListener listener = *network.Listen("alone", 80);
  absl::StatusOr<SimulatedStream> client =
      executor.Run(network.Connect("alone", "alone", 80));
  absl::StatusOr<SimulatedStream> server = executor.Run(listener.Accept());
  ASSERT_THAT(server, IsOk());
  EXPECT_THAT(executor.Run(SendAll(*client, "self")), IsOk());
  EXPECT_THAT(executor.Run(ReceiveAll(*server)), IsOkAndHolds("self"));
}

TEST(SimulatedNetworkTest, ConnectMayBeDroppedAtEveryPoll) {
  DeterministicExecutor executor({});
  SimulatedNetwork network(executor);
  SimulatedListener listener = *network.Listen("server", 80);
  DropAtEveryPollOptions options;
  options.step = [&] { return executor.RunUntilIdle().ok(); };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return network.Connect("client", "server", 80); },
                      options),
      IsOkAndHolds(2u));
}

TEST(SimulatedNetworkTest, ADroppedConnectResetsWhatItHasMade) {
  DeterministicExecutor executor({});
  SimulatedNetwork network(executor);
  SimulatedListener listener = *network.Listen("server", 80);
  {
    SimulatedConnectFuture dropped = network.Connect("client", "server", 80);
    Context cx(NoopWaker());
    EXPECT_TRUE(dropped.Poll(cx).IsPending());
  }
  absl::StatusOr<SimulatedStream> server = executor.Run(listener.Accept());
  ASSERT_THAT(server, IsOk());
  EXPECT_THAT(executor.Run(ReceiveAll(*server)), ErrnoIs(ECONNRESET));
}

TEST(SimulatedNetworkTest, AConnectThatOutlivesItFails) {
  DeterministicExecutor executor({});
  std::optional<SimulatedNetwork> network(std::in_place, executor);
  SimulatedConnectFuture begun = network->Connect("client", "server", 80);
  SimulatedConnectFuture fresh = network->Connect("client", "server", 80);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(begun.Poll(cx).IsPending());

  network.reset();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_THAT(executor.Run(begun), ErrnoIs(ENETDOWN));
  EXPECT_THAT(executor.Run(fresh), ErrnoIs(ENETDOWN));
}

// ---- Time ----

TEST(SimulatedNetworkTest, APacketTakesItsTime) {
  const SimulatedNetworkOptions options = {
      .latency_min = absl::Milliseconds(5),
      .latency_max = absl::Milliseconds(20),
      .cut = 0};
  absl::Duration least = absl::InfiniteDuration();
  absl::Duration most;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SimulatedTalk talk(seed, options);
    const Instant before = talk.Now();
    EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
    EXPECT_EQ(talk.Now(), before);
    EXPECT_THAT(talk.Run(Receive(talk.server, 1)), IsOkAndHolds("x"));
    least = std::min(least, talk.Now() - before);
    most = std::max(most, talk.Now() - before);
  }
  EXPECT_THAT(least, AllOf(Ge(options.latency_min), Le(absl::Milliseconds(6))));
  EXPECT_THAT(most, AllOf(Le(options.latency_max), Ge(absl::Milliseconds(19))));
}

// Time passes when all tasks wait; but packets do not wait for that.
TEST(SimulatedNetworkTest, PacketsArriveWhileTasksRun) {
  int met = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimulatedTalk talk(seed, {.cut = 0});
    absl::StatusOr<SimulatedStream> other =
        talk.Run(talk.network.Connect("client", "server", 80));
    ASSERT_THAT(other, IsOk());
    EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
    EXPECT_THAT(talk.Run(io::WriteAll(*other, "x"sv)), IsOk());
    EXPECT_THAT(talk.Run(Receive(talk.server, 1)), IsOkAndHolds("x"));
    met += absl::StrContains(talk.executor.TraceText(),
                             "1 bytes from client:49153 to server:80 (of 2)");
  }
  EXPECT_GT(met, 2);
}

TEST(SimulatedNetworkTest, WhatIsLostIsSentAgain) {
  const SimulatedNetworkOptions options = {
      .latency_max = absl::Milliseconds(1), .loss = 0.5, .cut = 0};
  std::set<int64_t> times;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimulatedTalk talk(seed, options);
    const Instant before = talk.Now();
    EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
    EXPECT_THAT(talk.Run(Receive(talk.server, 1)), IsOkAndHolds("x"));
    times.insert(absl::ToInt64Milliseconds(talk.Now() - before));
  }
  // At once, after one time more, after two...
  EXPECT_THAT(times, testing::IsSupersetOf({1, 201, 601, 1401}));
  for (const int64_t time : times) EXPECT_EQ(time % 200, 1);
}

TEST(SimulatedNetworkTest, WhereAllIsLostConnectTimesOut) {
  DeterministicExecutor executor({});
  SimulatedNetwork network(executor, {.latency_min = absl::ZeroDuration(),
                                      .latency_max = absl::ZeroDuration(),
                                      .loss = 1});
  SimulatedListener listener = *network.Listen("server", 80);
  const Instant before = executor.clock().Now();
  EXPECT_THAT(executor.Run(network.Connect("client", "server", 80)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(executor.clock().Now() - before, absl::Minutes(2));
}

// ---- Partitions ----

TEST(SimulatedNetworkTest, APartitionHoldsBytesUntilItIsHealed) {
  SimulatedTalk talk;
  CountingWaker waker;
  Context cx(waker.waker());
  std::array<char, 1> byte;
  EXPECT_TRUE(talk.server.PollRead(cx, byte).IsPending());
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
  talk.network.Partition("client", "server");
  talk.Pass(absl::Minutes(1));
  EXPECT_EQ(waker.wakes(), 0u);

  talk.network.Heal("server", "client");
  talk.Pass(absl::Seconds(59));
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_THAT(talk.Run(io::Read(talk.server, byte)), IsOkAndHolds(1u));
}

TEST(SimulatedNetworkTest, APartitionDoesNotConcernOthers) {
  SimulatedTalk talk;
  talk.network.Partition("client", "elsewhere");
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.server, 1)), IsOkAndHolds("x"));
}

TEST(SimulatedNetworkTest, ALongPartitionTimesOutWhoSends) {
  SimulatedTalk talk;
  talk.network.Partition("client", "server");
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
  const absl::StatusOr<std::string> answer = talk.Run(ReceiveAll(talk.client));
  EXPECT_THAT(answer, ErrnoIs(ETIMEDOUT));
  EXPECT_THAT(answer, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(talk.Run(ReceiveAll(talk.client)), IsOkAndHolds(""));
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), ErrnoIs(EPIPE));

  // Who only listens does not know, and is told when it says something.
  talk.network.Heal("client", "server");
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("nothing can happen any more")));
  EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "y"sv)), IsOk());
  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), ErrnoIs(ECONNRESET));
}

TEST(SimulatedNetworkTest, ALongPartitionTimesOutWhoWaitsForRoom) {
  SimulatedTalk talk(1, {.window = 10});
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "0123456789"sv)), IsOk());
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  talk.network.Partition("client", "server");
  EXPECT_THAT(talk.Run(Receive(talk.server, 10)), IsOkAndHolds("0123456789"));
  const absl::Status status = talk.Run(io::WriteAll(talk.client, "x"sv));
  EXPECT_THAT(status, ErrnoIs(ETIMEDOUT));
}

TEST(SimulatedNetworkTest, APartitionMayHaveOneDirection) {
  SimulatedTalk talk;
  talk.network.PartitionOneWay("server", "client");
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "heard"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.server, 5)), IsOkAndHolds("heard"));
  EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "lost"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.server, 1)), ErrnoIs(ETIMEDOUT));
}

TEST(SimulatedNetworkTest, ConnectTimesOutWhereOneDirectionIsCut) {
  for (const bool there : {true, false}) {
    for (const bool somebody_listens : {true, false}) {
      DeterministicExecutor executor({});
      SimulatedNetwork network(executor);
      std::optional<SimulatedListener> listener;
      if (somebody_listens) listener.emplace(*network.Listen("server", 80));
      if (there) {
        network.PartitionOneWay("client", "server");
      } else {
        network.PartitionOneWay("server", "client");
      }
      EXPECT_THAT(executor.Run(network.Connect("client", "server", 80)),
                  ErrnoIs(ETIMEDOUT));
    }
  }
}

// ---- Crashes ----

TEST(SimulatedNetworkTest, ACrashResetsTheStreamsOfAHost) {
  SimulatedTalk talk;
  EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "never arrives"sv)), IsOk());
  talk.network.CrashHost("server");

  EXPECT_THAT(talk.Run(ReceiveAll(talk.server)), ErrnoIs(ECONNRESET));
  EXPECT_THAT(talk.Run(ReceiveAll(talk.client)), ErrnoIs(ECONNRESET));
  EXPECT_TRUE(talk.listener.IsClosed());
  EXPECT_EQ(talk.Run(talk.listener.Accept()).status(), io::ClosedStatus());
}

// A reset that overtakes what was sent before is drawn; the crash is not.
TEST(SimulatedNetworkTest, WhatWasSentBeforeAResetDoesNotSurviveACrash) {
  for (uint64_t seed = 1; seed < 50; ++seed) {
    SimulatedTalk talk(seed);
    EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "unread"sv)), IsOk());
    EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
    EXPECT_THAT(talk.Run(io::WriteAll(talk.server, "never arrives"sv)), IsOk());
    talk.server.Close();
    talk.network.CrashHost("server");
    EXPECT_THAT(talk.Run(ReceiveAll(talk.client)), ErrnoIs(ECONNRESET));
  }
}

TEST(SimulatedNetworkTest, ACrashDoesNotConcernOthers) {
  SimulatedTalk talk;
  talk.network.CrashHost("elsewhere");
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "x"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.server, 1)), IsOkAndHolds("x"));
}

TEST(SimulatedNetworkTest, AHostThatHasCrashedStartsAnew) {
  SimulatedTalk talk;
  talk.network.CrashHost("server");
  EXPECT_THAT(talk.Run(talk.network.Connect("client", "server", 80)),
              ErrnoIs(ECONNREFUSED));
  const SimulatedListener again = *talk.network.Listen("server", 80);
  EXPECT_THAT(talk.Run(talk.network.Connect("client", "server", 80)), IsOk());
}

TEST(SimulatedNetworkTest, ACrashBehindAPartitionIsNoticedWhenItIsHealed) {
  SimulatedTalk talk;
  talk.network.Partition("client", "server");
  talk.network.CrashHost("server");
  talk.Pass(absl::Minutes(5));
  talk.network.Heal("client", "server");
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "anybody?"sv)), IsOk());
  EXPECT_THAT(talk.Run(ReceiveAll(talk.client)), ErrnoIs(ECONNRESET));
}

// Sends back what comes, connection by connection.
Task<> Echo(SimulatedListener& listener) {
  for (;;) {
    absl::StatusOr<SimulatedStream> stream = co_await listener.Accept();
    if (!stream.ok()) co_return;
    const absl::StatusOr<std::string> all = co_await ReceiveAll(*stream);
    if (all.ok()) (co_await SendAll(*stream, *all)).IgnoreError();
  }
}

Task<> AskForEcho(SimulatedNetwork& network) {
  absl::StatusOr<SimulatedStream> stream =
      co_await network.Connect("client", "server", 80);
  if (!stream.ok()) co_return;
  (co_await SendAll(*stream, Pattern(100))).IgnoreError();
  const absl::StatusOr<std::string> echo = co_await ReceiveAll(*stream);
  if (echo.ok()) EXPECT_EQ(*echo, Pattern(100));
}

TEST(SimulatedNetworkTest, ACrashAtAnyMomentEndsEveryWait) {
  for (int64_t moment = 0; moment < 60; ++moment) {
    DeterministicExecutor executor({.seed = static_cast<uint64_t>(moment)});
    SimulatedNetwork network(executor);
    SimulatedListener listener = *network.Listen("server", 80);
    const JoinHandle<> server = executor.SpawnBorrowing(Echo(listener));
    const JoinHandle<> client = executor.SpawnBorrowing(AskForEcho(network));
    EXPECT_THAT(executor.Run(timer::At(executor.clock().Now() +
                                       absl::Milliseconds(moment))),
                IsOk());
    network.CrashHost("server");
    EXPECT_THAT(executor.RunUntilIdle(), IsOk());
    EXPECT_EQ(executor.live(), 0u) << "crashed after " << moment << " ms";
  }
}

// ---- The trace ----

std::string Trace(uint64_t seed) {
  SimulatedTalk talk(seed, {.loss = 0.1});
  const auto results = talk.Run(
      Join(SendAll(talk.client, Pattern(500)), ReceiveAll(talk.server)));
  EXPECT_THAT(results, IsOk());
  return talk.executor.TraceText();
}

TEST(SimulatedNetworkTest, ASeedGivesTheSameTraceToTheByte) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(Trace(seed), Trace(seed));
  }
}

TEST(SimulatedNetworkTest, OtherSeedsGiveOtherTraces) {
  std::set<std::string> traces;
  for (uint64_t seed = 0; seed < 100; ++seed) traces.insert(Trace(seed));
  EXPECT_EQ(traces.size(), 100u);
}

TEST(SimulatedNetworkTest, TheTraceTellsWhatIsUnderWay) {
  SimulatedTalk talk(1, {.cut = 0, .window = 12});
  EXPECT_THAT(talk.Run(io::WriteAll(talk.client, "hello, world"sv)), IsOk());
  EXPECT_THAT(talk.Run(Receive(talk.server, 12)), IsOk());
  talk.network.Partition("client", "server");
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  talk.network.Heal("client", "server");
  EXPECT_THAT(talk.Run(io::Shutdown(talk.server)), IsOk());
  EXPECT_THAT(talk.executor.RunUntilIdle(), IsOk());
  const std::string trace = talk.executor.TraceText();
  for (const std::string_view line :
       {"connect from client:49152 to server:80 (",
        "accept from server:80 to client:49152 (",
        "12 bytes from client:49152 to server:80 (",
        "room for 12 bytes from server:80 to client:49152, lost (",
        "the end from server:80 to client:49152 (",
        "reset from client:49152 to server:80 ("}) {
    EXPECT_THAT(trace, HasSubstr(std::string(line)));
  }
}

// ---- A protocol ----

// Requests and answers are a byte that says how long they are, and so many bytes;
// an answer is the request, in capital letters as far as this goes.
template <class Stream>
  requires io::AsyncRead<Stream> && io::AsyncWrite<Stream>
class Caller {
 public:
  // With the fault one read is taken for one answer.
  Caller(Stream stream, bool is_faulty)
      : stream_(std::move(stream)), is_faulty_(is_faulty) {}

  Task<absl::StatusOr<std::string>> Call(std::string request) {
    request.insert(0, 1, static_cast<char>(request.size()));
    const absl::Status sent = co_await io::WriteAll(stream_, request);
    if (!sent.ok()) co_return sent;
    if (is_faulty_) co_return co_await ReadOnce();
    char size = 0;
    const absl::Status head =
        co_await io::ReadExact(stream_, std::span<char>(&size, 1));
    if (!head.ok()) co_return head;
    co_return co_await Receive(stream_, static_cast<size_t>(size));
  }

 private:
  Task<absl::StatusOr<std::string>> ReadOnce() {
    std::array<char, 128> buffer;
    const absl::StatusOr<size_t> n = co_await io::Read(stream_, buffer);
    if (!n.ok()) co_return n.status();
    co_return std::string(buffer.data() + 1, *n - 1);
  }

  Stream stream_;
  const bool is_faulty_;
};

template <class Stream>
  requires io::AsyncRead<Stream> && io::AsyncWrite<Stream>
Task<> Answer(Stream stream) {
  for (;;) {
    char size = 0;
    const absl::Status head =
        co_await io::ReadExact(stream, std::span<char>(&size, 1));
    if (!head.ok()) co_return;
    absl::StatusOr<std::string> request =
        co_await Receive(stream, static_cast<size_t>(size));
    if (!request.ok()) co_return;
    const std::string answer = size + absl::AsciiStrToUpper(*request);
    const absl::Status sent = co_await io::WriteAll(stream, answer);
    if (!sent.ok()) co_return;
  }
}

Task<> Serve(SimulatedListener& listener) {
  absl::StatusOr<SimulatedStream> stream = co_await listener.Accept();
  if (stream.ok()) co_await Answer(*std::move(stream));
}

Task<absl::Status> CallTwice(SimulatedNetwork& network, bool is_faulty) {
  absl::StatusOr<SimulatedStream> stream =
      co_await network.Connect("client", "server", 80);
  if (!stream.ok()) co_return stream.status();
  Caller<SimulatedStream> caller(*std::move(stream), is_faulty);
  for (const char* word : {"hello", "world"}) {
    const absl::StatusOr<std::string> answer = co_await caller.Call(word);
    if (!answer.ok()) co_return answer.status();
    if (*answer != absl::AsciiStrToUpper(word)) {
      co_return absl::DataLossError(*answer);
    }
  }
  co_return absl::OkStatus();
}

absl::Status Converse(DeterministicExecutor& executor, bool is_faulty) {
  // What the server writes is seldom cut: the fault is not found at once.
  SimulatedNetwork network(executor, {.loss = 0.05, .cut = 0.01});
  SimulatedListener listener = *network.Listen("server", 80);
  const JoinHandle<> server = executor.SpawnBorrowing(Serve(listener));
  const absl::Status status = executor.Run(CallTwice(network, is_faulty));
  if (!status.ok()) return status;
  const absl::Status idle = executor.RunUntilIdle();
  if (!idle.ok()) return idle;
  return executor.live() == 0 ? absl::OkStatus()
                              : absl::InternalError("the server is left");
}

TEST(SimulatedNetworkTest, ExploreFindsAProtocolThatTakesOneReadForOneMessage) {
  const std::optional<ScenarioFailure> failure =
      Explore(1000, [](DeterministicExecutor& executor) {
        return Converse(executor, /*is_faulty=*/true);
      });
  ASSERT_TRUE(failure.has_value());
  EXPECT_GT(failure->seed, 1u);
  EXPECT_TRUE(absl::IsDataLoss(failure->status)) << failure->status;
  EXPECT_THAT(failure->trace,
              HasSubstr("bytes from server:80 to client:49152"));
}

TEST(SimulatedNetworkTest, ExploreFindsNothingWhereItIsMended) {
  EXPECT_EQ(Explore(1000,
                    [](DeterministicExecutor& executor) {
                      return Converse(executor, /*is_faulty=*/false);
                    }),
            std::nullopt);
}

}  // namespace
}  // namespace weft::net
