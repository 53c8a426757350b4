// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_listener.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/io/io_result.h"
#include "weft/io/write_all.h"
#include "weft/net/simulated_network.h"
#include "weft/net/simulated_stream.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/tests/net/simulated_talk.h"

namespace weft::net {
namespace {

static_assert(Future<SimulatedAcceptFuture>);

using testing::HasSubstr;

// A network on which somebody listens, and nobody has come.
struct Quiet {
  explicit Quiet(uint64_t seed = 1)
      : executor({.seed = seed}),
        network(executor),
        listener(*network.Listen("server", 80)) {}

  SimulatedStream Connect() {
    return *executor.Run(network.Connect("client", "server", 80));
  }

  DeterministicExecutor executor;
  SimulatedNetwork network;
  SimulatedListener listener;
};

TEST(SimulatedListenerTest, AcceptsWhatHasConnected) {
  Quiet quiet;
  const SimulatedStream first = quiet.Connect();
  const SimulatedStream second = quiet.Connect();

  EXPECT_EQ(quiet.listener.local_address(), "server:80");
  absl::StatusOr<SimulatedStream> a =
      quiet.executor.Run(quiet.listener.Accept());
  absl::StatusOr<SimulatedStream> b =
      quiet.executor.Run(quiet.listener.Accept());
  ASSERT_THAT(a, IsOk());
  ASSERT_THAT(b, IsOk());
  EXPECT_EQ(a->peer_address(), first.local_address());
  EXPECT_EQ(b->peer_address(), second.local_address());
}

TEST(SimulatedListenerTest, WhatWasSentBeforeTheAcceptWaits) {
  Quiet quiet;
  SimulatedStream client = quiet.Connect();
  EXPECT_THAT(quiet.executor.Run(SendAll(client, "early")), IsOk());
  EXPECT_THAT(quiet.executor.RunUntilIdle(), IsOk());

  absl::StatusOr<SimulatedStream> server =
      quiet.executor.Run(quiet.listener.Accept());
  ASSERT_THAT(server, IsOk());
  EXPECT_THAT(quiet.executor.Run(ReceiveAll(*server)), IsOkAndHolds("early"));
}

TEST(SimulatedListenerTest, AnAddressHasOneListener) {
  Quiet quiet;
  const absl::StatusOr<SimulatedListener> again =
      quiet.network.Listen("server", 80);
  EXPECT_THAT(again, ErrnoIs(EADDRINUSE));
  EXPECT_THAT(again.status().message(), HasSubstr("listen server:80"));
  EXPECT_THAT(quiet.network.Listen("server", 81), IsOk());
  EXPECT_THAT(quiet.network.Listen("other", 80), IsOk());

  quiet.listener.Close();
  EXPECT_THAT(quiet.network.Listen("server", 80), IsOk());
}

TEST(SimulatedListenerTest, PortZeroIsAFreeOne) {
  Quiet quiet;
  const SimulatedListener taken = *quiet.network.Listen("server", 49152);
  const SimulatedListener a = *quiet.network.Listen("server", 0);
  const SimulatedListener b = *quiet.network.Listen("server", 0);
  EXPECT_EQ(a.local_address(), "server:49153");
  EXPECT_EQ(b.local_address(), "server:49154");
}

Task<> AcceptOne(SimulatedListener& listener, std::set<std::string>& peers) {
  const absl::StatusOr<SimulatedStream> stream = co_await listener.Accept();
  if (stream.ok()) peers.insert(stream->peer_address());
}

TEST(SimulatedListenerTest, EachConnectionGoesToOneOfThoseWhoAccept) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Quiet quiet(seed);
    std::set<std::string> peers;
    std::vector<JoinHandle<>> accepting;
    for (int i = 0; i < 3; ++i) {
      accepting.push_back(
          quiet.executor.SpawnBorrowing(AcceptOne(quiet.listener, peers)));
    }
    std::vector<SimulatedStream> clients;
    for (int i = 0; i < 2; ++i) clients.push_back(quiet.Connect());
    EXPECT_THAT(quiet.executor.RunUntilIdle(), IsOk());
    EXPECT_EQ(peers.size(), 2u);
    EXPECT_EQ(quiet.executor.live(), 1u);

    quiet.listener.Close();
    EXPECT_THAT(quiet.executor.RunUntilIdle(), IsOk());
    EXPECT_EQ(quiet.executor.live(), 0u);
  }
}

TEST(SimulatedListenerTest, CloseEndsTheWaits) {
  Quiet quiet;
  CountingWaker waker;
  Context cx(waker.waker());
  SimulatedAcceptFuture accept = quiet.listener.Accept();
  EXPECT_TRUE(accept.Poll(cx).IsPending());
  EXPECT_FALSE(quiet.listener.IsClosed());

  quiet.listener.Close();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_TRUE(quiet.listener.IsClosed());
  EXPECT_EQ(quiet.executor.Run(accept).status(), io::ClosedStatus());
  EXPECT_EQ(quiet.executor.Run(quiet.listener.Accept()).status(),
            io::ClosedStatus());
}

TEST(SimulatedListenerTest, DroppedItResetsWhoWaitsToBeAccepted) {
  Quiet quiet;
  SimulatedStream client = quiet.Connect();
  {
    const SimulatedListener gone = std::move(quiet.listener);
  }

  EXPECT_THAT(quiet.executor.Run(ReceiveAll(client)), ErrnoIs(ECONNRESET));
  EXPECT_THAT(quiet.executor.Run(quiet.network.Connect("client", "server", 80)),
              ErrnoIs(ECONNREFUSED));
}

TEST(SimulatedListenerTest, FuturesMayOutliveItAndTheNetwork) {
  DeterministicExecutor executor({});
  std::optional<SimulatedNetwork> network(std::in_place, executor);
  absl::StatusOr<SimulatedListener> a = network->Listen("server", 80);
  std::optional<SimulatedListener> b(*network->Listen("server", 81));
  CountingWaker waker;
  Context cx(waker.waker());
  SimulatedAcceptFuture accept_a = a->Accept();
  SimulatedAcceptFuture accept_b = b->Accept();
  EXPECT_TRUE(accept_a.Poll(cx).IsPending());
  EXPECT_TRUE(accept_b.Poll(cx).IsPending());

  b.reset();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_EQ(executor.Run(accept_b).status(), io::ClosedStatus());
  network.reset();
  EXPECT_EQ(waker.wakes(), 2u);
  EXPECT_EQ(executor.Run(accept_a).status(), io::ClosedStatus());
  EXPECT_TRUE(a->IsClosed());
}

// ---- Dropping ----

TEST(SimulatedListenerTest, ADroppedAcceptLosesNoConnection) {
  Quiet quiet;
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional<SimulatedAcceptFuture> dropped(quiet.listener.Accept());
  SimulatedAcceptFuture other = quiet.listener.Accept();
  CountingWaker other_waker;
  Context other_cx(other_waker.waker());
  EXPECT_TRUE(dropped->Poll(cx).IsPending());
  EXPECT_TRUE(other.Poll(other_cx).IsPending());
  const SimulatedStream client = quiet.Connect();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_EQ(other_waker.wakes(), 0u);

  dropped.reset();
  EXPECT_EQ(waker.outstanding(), 0);
  EXPECT_EQ(other_waker.wakes(), 1u);
  const absl::StatusOr<SimulatedStream> server = quiet.executor.Run(other);
  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(server->peer_address(), client.local_address());
}

TEST(SimulatedListenerTest, AcceptMayBeDroppedAtEveryPoll) {
  Quiet quiet;
  std::vector<SimulatedStream> clients;
  DropAtEveryPollOptions options;
  options.step = [&] {
    clients.push_back(quiet.Connect());
    return true;
  };
  EXPECT_THAT(DropAtEveryPoll([&] { return quiet.listener.Accept(); }, options),
              IsOkAndHolds(2u));
}

}  // namespace
}  // namespace weft::net
