// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_datagram_socket.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/io/io_result.h"
#include "weft/net/simulated_network.h"
#include "weft/net/simulated_network_options.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"

namespace weft::net {
namespace {

static_assert(Future<SimulatedReceiveFuture>);

using testing::ElementsAre;
using testing::HasSubstr;

// Two sockets, "a:1" and "b:2".
struct Post {
  explicit Post(uint64_t seed = 1, const SimulatedNetworkOptions& options = {})
      : executor({.seed = seed}),
        network(executor, options),
        a(*network.Bind("a", 1)),
        b(*network.Bind("b", 2)) {}

  // What has arrived at `b` when nothing is on its way any more.
  std::vector<std::string> Arrived() {
    EXPECT_THAT(executor.RunUntilIdle(), IsOk());
    Context cx(NoopWaker());
    std::vector<std::string> all;
    for (;;) {
      SimulatedReceiveFuture receive = b.Receive();
      const Polled<absl::StatusOr<SimulatedDatagram>> polled = receive.Poll(cx);
      if (polled.IsPending()) return all;
      EXPECT_THAT(*polled, IsOk());
      all.push_back((*polled)->bytes);
    }
  }

  DeterministicExecutor executor;
  SimulatedNetwork network;
  SimulatedDatagramSocket a;
  SimulatedDatagramSocket b;
};

TEST(SimulatedDatagramSocketTest, ADatagramArrivesWholeWithItsSender) {
  Post post;
  EXPECT_EQ(post.a.local_address(), "a:1");
  EXPECT_THAT(post.a.SendTo("b", 2, "hello"), IsOk());
  EXPECT_THAT(post.a.SendTo("b", 2, ""), IsOk());

  std::multiset<std::string> bytes;
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<SimulatedDatagram> datagram =
        post.executor.Run(post.b.Receive());
    ASSERT_THAT(datagram, IsOk());
    EXPECT_EQ(datagram->host, "a");
    EXPECT_EQ(datagram->port, 1);
    bytes.insert(datagram->bytes);
  }
  EXPECT_THAT(bytes, ElementsAre("", "hello"));
}

TEST(SimulatedDatagramSocketTest, APortHasOneSocket) {
  Post post;
  const absl::StatusOr<SimulatedDatagramSocket> again =
      post.network.Bind("a", 1);
  EXPECT_THAT(again, ErrnoIs(EADDRINUSE));
  EXPECT_THAT(again.status().message(), HasSubstr("bind a:1"));
  EXPECT_THAT(post.network.Listen("a", 1), IsOk());
  EXPECT_EQ(post.network.Bind("a", 0)->local_address(), "a:49152");

  post.a.Close();
  EXPECT_THAT(post.network.Bind("a", 1), IsOk());
}

TEST(SimulatedDatagramSocketTest, WhatIsTooBigIsRefused) {
  Post post(1, {.window = 1 << 20});
  const std::string big(SimulatedDatagramSocket::kMaxSize, 'x');
  EXPECT_THAT(post.a.SendTo("b", 2, big), IsOk());
  EXPECT_THAT(post.a.SendTo("b", 2, big + 'x'), ErrnoIs(EMSGSIZE));
  EXPECT_THAT(post.Arrived(), ElementsAre(big));
}

// ---- What may happen on the way ----

TEST(SimulatedDatagramSocketTest, DatagramsOvertake) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Post post(seed);
    for (const char* bytes : {"1", "2", "3"}) {
      EXPECT_THAT(post.a.SendTo("b", 2, bytes), IsOk());
    }
    orders.insert(absl::StrJoin(post.Arrived(), ""));
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(SimulatedDatagramSocketTest, DatagramsAreLostAndDoubled) {
  Post post(1, {.loss = 0.25, .duplication = 0.5, .window = 1 << 20});
  constexpr int kSent = 1000;
  for (int i = 0; i < kSent; ++i) {
    EXPECT_THAT(post.a.SendTo("b", 2, absl::StrCat(i)), IsOk());
  }
  const std::vector<std::string> arrived = post.Arrived();
  const std::set<std::string> different(arrived.begin(), arrived.end());
  // Of 1500 on their way a quarter is lost; of what was sent once a quarter, too, of
  // what was sent twice a sixteenth.
  EXPECT_NEAR(static_cast<double>(arrived.size()), 1125, 60);
  EXPECT_NEAR(static_cast<double>(different.size()), 844, 60);
}

TEST(SimulatedDatagramSocketTest, ADatagramTakesItsTime) {
  Post post(1, {.latency_min = absl::Milliseconds(7),
                .latency_max = absl::Milliseconds(7)});
  const auto before = post.executor.clock().Now();
  EXPECT_THAT(post.a.SendTo("b", 2, "x"), IsOk());
  EXPECT_THAT(post.executor.Run(post.b.Receive()), IsOk());
  EXPECT_EQ(post.executor.clock().Now() - before, absl::Milliseconds(7));
}

TEST(SimulatedDatagramSocketTest, APartitionIsNotWaitedFor) {
  Post post;
  post.network.PartitionOneWay("a", "b");
  EXPECT_THAT(post.a.SendTo("b", 2, "lost"), IsOk());
  EXPECT_THAT(post.executor.RunUntilIdle(), IsOk());
  post.network.Heal("a", "b");
  EXPECT_THAT(post.a.SendTo("b", 2, "heard"), IsOk());

  EXPECT_THAT(post.Arrived(), ElementsAre("heard"));
  EXPECT_THAT(post.executor.TraceText(),
              HasSubstr("a datagram of 4 bytes from a:1 to b:2, lost (of 1)"));
  EXPECT_THAT(post.executor.TraceText(),
              HasSubstr("a datagram of 5 bytes from a:1 to b:2 (of 1)"));
}

TEST(SimulatedDatagramSocketTest, WhatNobodyReceivesIsLost) {
  Post post;
  EXPECT_THAT(post.a.SendTo("b", 3, "x"), IsOk());
  EXPECT_THAT(post.executor.RunUntilIdle(), IsOk());
  EXPECT_THAT(post.executor.TraceText(), HasSubstr("to b:3, lost"));
}

TEST(SimulatedDatagramSocketTest, WhatDoesNotFitIsLost) {
  Post post(1, {.window = 10});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(post.a.SendTo("b", 2, "12345"), IsOk());
  }
  EXPECT_THAT(post.Arrived(), ElementsAre("12345", "12345"));
  EXPECT_THAT(post.a.SendTo("b", 2, "12345"), IsOk());
  EXPECT_THAT(post.Arrived(), ElementsAre("12345"));
}

// ---- Its end ----

TEST(SimulatedDatagramSocketTest, CloseEndsTheWaits) {
  Post post;
  CountingWaker waker;
  Context cx(waker.waker());
  SimulatedReceiveFuture receive = post.b.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());

  post.b.Close();
  EXPECT_EQ(waker.wakes(), 1u);
  EXPECT_TRUE(post.b.IsClosed());
  EXPECT_EQ(post.executor.Run(receive).status(), io::ClosedStatus());
  EXPECT_EQ(post.b.SendTo("a", 1, "x"), io::ClosedStatus());
}

TEST(SimulatedDatagramSocketTest, WhatADroppedOneHasSentArrives) {
  Post post;
  EXPECT_THAT(post.a.SendTo("b", 2, "last words"), IsOk());
  {
    const SimulatedDatagramSocket gone = std::move(post.a);
  }
  EXPECT_THAT(post.Arrived(), ElementsAre("last words"));
}

TEST(SimulatedDatagramSocketTest, ACrashClosesTheSocketsOfAHost) {
  Post post;
  post.network.CrashHost("b");
  EXPECT_TRUE(post.b.IsClosed());
  EXPECT_FALSE(post.a.IsClosed());
}

TEST(SimulatedDatagramSocketTest, MayOutliveItsNetwork) {
  DeterministicExecutor executor({});
  std::optional<SimulatedNetwork> network(std::in_place, executor);
  absl::StatusOr<SimulatedDatagramSocket> a = network->Bind("a", 1);
  SimulatedReceiveFuture receive = a->Receive();
  EXPECT_THAT(a->SendTo("a", 1, "on its way"), IsOk());

  network.reset();
  EXPECT_EQ(executor.Run(receive).status(), io::ClosedStatus());
  EXPECT_THAT(a->SendTo("a", 1, "x"), ErrnoIs(ENETDOWN));
}

// ---- Dropping ----

TEST(SimulatedDatagramSocketTest, ReceiveMayBeDroppedAtEveryPoll) {
  Post post;
  DropAtEveryPollOptions options;
  options.step = [&] {
    EXPECT_THAT(post.a.SendTo("b", 2, "x"), IsOk());
    return post.executor.RunUntilIdle().ok();
  };
  EXPECT_THAT(DropAtEveryPoll([&] { return post.b.Receive(); }, options),
              IsOkAndHolds(2u));
}

TEST(SimulatedDatagramSocketTest, ADroppedReceiveLosesNoDatagram) {
  Post post;
  CountingWaker waker;
  CountingWaker other_waker;
  Context cx(waker.waker());
  Context other_cx(other_waker.waker());
  std::optional<SimulatedReceiveFuture> dropped(post.b.Receive());
  SimulatedReceiveFuture other = post.b.Receive();
  EXPECT_TRUE(dropped->Poll(cx).IsPending());
  EXPECT_TRUE(other.Poll(other_cx).IsPending());
  EXPECT_THAT(post.a.SendTo("b", 2, "x"), IsOk());
  EXPECT_THAT(post.executor.RunUntilIdle(), IsOk());
  EXPECT_EQ(waker.wakes(), 1u);

  dropped.reset();
  EXPECT_EQ(waker.outstanding(), 0);
  EXPECT_EQ(other_waker.wakes(), 1u);
  EXPECT_THAT(post.executor.Run(other), IsOk());
}

}  // namespace
}  // namespace weft::net
