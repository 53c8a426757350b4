// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/tcp_listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/read.h"
#include "weft/io/write_all.h"
#include "weft/net/listen_options.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/net/fixture.h"

namespace weft::net {
namespace {

static_assert(Future<AcceptFuture>);

using testing::HasSubstr;
using std::string_view_literals::operator""sv;

using TcpListenerTest = NetTest;

TEST_F(TcpListenerTest, SaysWhereItListens) {
  TcpListener listener = Listen();
  EXPECT_TRUE(listener.local_address().IsLoopback());
  EXPECT_NE(listener.local_address().port(), 0);
}

TEST_F(TcpListenerTest, GivesConnectionsInTheirOrder) {
  TcpListener listener = Listen();
  std::vector<TcpStream> clients;
  for (int i = 0; i < 50; ++i) {
    absl::StatusOr<TcpStream> client =
        Run(TcpStream::Connect(listener.local_address()));
    ASSERT_THAT(client, IsOk());
    clients.push_back(*std::move(client));
  }
  for (TcpStream& client : clients) {
    absl::StatusOr<TcpStream> server = Run(listener.Accept());
    ASSERT_THAT(server, IsOk());
    EXPECT_THAT(client.local_address(), IsOkAndHolds(server->peer_address()));
  }
}

TEST_F(TcpListenerTest, AcceptedSocketsAreCloseOnExecAndDoNotBlock) {
  ConnectedPair pair = Connect();
  io::Fd fd = std::move(pair.server).IntoFd();
  EXPECT_NE(fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(fd.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(TcpListenerTest, AWaitingAcceptIsWokenByAConnection) {
  TcpListener listener = Listen();
  CountingWaker waker;
  Context cx(waker.waker());
  AcceptFuture accept = listener.Accept();
  EXPECT_TRUE(accept.Poll(cx).IsPending());
  EXPECT_TRUE(accept.Poll(cx).IsPending());  // for no reason
  absl::StatusOr<TcpStream> client =
      Run(TcpStream::Connect(listener.local_address()));
  while (waker.wakes() == 0) ASSERT_TRUE(scope_.Turn());
  Polled<absl::StatusOr<TcpStream>> server = accept.Poll(cx);
  ASSERT_TRUE(server.IsReady());
  EXPECT_THAT(*server, IsOk());
}

TEST_F(TcpListenerTest, ManyTasksMayAccept) {
  TcpListener listener = Listen();
  std::vector<JoinHandle<absl::StatusOr<TcpStream>>> accepting;
  for (int i = 0; i < 10; ++i) {
    accepting.push_back(executor_.Spawn(listener.Accept()));
  }
  executor_.RunUntilIdle();
  std::vector<TcpStream> clients;
  for (int i = 0; i < 10; ++i) {
    absl::StatusOr<TcpStream> client =
        Run(TcpStream::Connect(listener.local_address()));
    ASSERT_THAT(client, IsOk());
    clients.push_back(*std::move(client));
  }
  for (auto& handle : accepting) EXPECT_THAT(Run(std::move(handle)), IsOk());
}

TEST_F(TcpListenerTest, CloseResumesWhoWaits) {
  const int before = OpenDescriptors();
  {
    TcpListener listener = Listen();
    JoinHandle<absl::StatusOr<TcpStream>> accepting =
        executor_.Spawn(listener.Accept());
    executor_.RunUntilIdle();
    EXPECT_FALSE(accepting.IsFinished());
    EXPECT_FALSE(listener.IsClosed());
    listener.Close();
    EXPECT_TRUE(listener.IsClosed());
    executor_.RunUntilIdle();
    EXPECT_TRUE(accepting.IsFinished());
    EXPECT_THAT(Run(std::move(accepting)), StatusIs(io::ClosedStatus().code()));
    EXPECT_THAT(Run(listener.Accept()), StatusIs(io::ClosedStatus().code()));
    EXPECT_THAT(Run(TcpStream::Connect(listener.local_address())),
                ErrnoIs(ECONNREFUSED));
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(TcpListenerTest, AnotherThreadMayCloseWhatIsWaitedFor) {
  for (int i = 0; i < 50; ++i) {
    ConnectedPair pair = Connect();
    TcpListener listener = Listen();
    std::array<char, 1> byte;
    std::thread closer([&] {
      listener.Close();
      pair.client.Close();
    });
    EXPECT_THAT(BlockOn(listener.Accept()),
                StatusIs(io::ClosedStatus().code()));
    EXPECT_THAT(BlockOn(io::Read(pair.client, byte)),
                StatusIs(io::ClosedStatus().code()));
    closer.join();
  }
}

TEST_F(TcpListenerTest, AFutureMayOutliveItsListener) {
  std::optional<TcpListener> listener = Listen();
  JoinHandle<absl::StatusOr<TcpStream>> accepting =
      executor_.Spawn(listener->Accept());
  executor_.RunUntilIdle();
  listener.reset();
  EXPECT_THAT(Run(std::move(accepting)), StatusIs(io::ClosedStatus().code()));
}

TEST_F(TcpListenerTest, ADroppedAcceptLosesNoConnection) {
  TcpListener listener = Listen();
  CountingWaker waker;
  Context cx(waker.waker());
  std::optional<AcceptFuture> dropped(listener.Accept());
  EXPECT_TRUE(dropped->Poll(cx).IsPending());
  absl::StatusOr<TcpStream> client =
      Run(TcpStream::Connect(listener.local_address()));
  while (waker.wakes() == 0) ASSERT_TRUE(scope_.Turn());
  dropped.reset();
  EXPECT_EQ(waker.outstanding(), 0);

  absl::StatusOr<TcpStream> server = Run(listener.Accept());
  ASSERT_THAT(server, IsOk());
  EXPECT_THAT(client->local_address(), IsOkAndHolds(server->peer_address()));
}

TEST_F(TcpListenerTest, AcceptMayBeDroppedAtEveryPoll) {
  TcpListener listener = Listen();
  std::vector<TcpStream> clients;
  DropAtEveryPollOptions options;
  options.step = [&] {
    absl::StatusOr<TcpStream> client =
        Run(TcpStream::Connect(listener.local_address()));
    EXPECT_THAT(client, IsOk());
    clients.push_back(*std::move(client));
    return scope_.Turn();
  };
  EXPECT_THAT(DropAtEveryPoll([&] { return listener.Accept(); }, options),
              IsOkAndHolds(2u));
}

TEST_F(TcpListenerTest, PassesOverConnectionsThatAreGone) {
  TcpListener listener = Listen();
  for (int i = 0; i < 10; ++i) {
    absl::StatusOr<TcpStream> client =
        Run(TcpStream::Connect(listener.local_address()));
    ASSERT_THAT(client, IsOk());
    const linger at_once = {1, 0};
    io::Fd fd = std::move(*client).IntoFd();
    setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  absl::StatusOr<TcpStream> client =
      Run(TcpStream::Connect(listener.local_address()));
  ASSERT_THAT(Run(io::WriteAll(*client, "x"sv)), IsOk());
  for (;;) {
    absl::StatusOr<TcpStream> server = Run(listener.Accept());
    ASSERT_THAT(server, IsOk());
    std::array<char, 1> byte;
    if (absl::StatusOr<size_t> n = Run(io::Read(*server, byte)); n.ok()) {
      EXPECT_THAT(client->local_address(),
                  IsOkAndHolds(server->peer_address()));
      break;
    }
  }
}

TEST_F(TcpListenerTest, BindingNamesWhatIsWrong) {
  TcpListener listener = Listen();
  absl::StatusOr<TcpListener> second =
      TcpListener::Bind(listener.local_address());
  EXPECT_THAT(second, ErrnoIs(EADDRINUSE));
  EXPECT_THAT(second.status().message(),
              HasSubstr("listen " + listener.local_address().ToString()));
  // From the range for documentation: not this machine's.
  EXPECT_THAT(TcpListener::Bind(*SocketAddress::Parse("192.0.2.1:0")),
              ErrnoIs(EADDRNOTAVAIL));
}

TEST_F(TcpListenerTest, APortCanBeBoundAgainAtOnce) {
  std::optional<TcpListener> listener = Listen();
  const SocketAddress address = listener->local_address();
  absl::StatusOr<TcpStream> client = Run(TcpStream::Connect(address));
  {
    // The side that closes first keeps the port busy for a minute.
    absl::StatusOr<TcpStream> server = Run(listener->Accept());
    ASSERT_THAT(server, IsOk());
  }
  listener.reset();
  EXPECT_THAT(TcpListener::Bind(address), IsOk());
}

TEST_F(TcpListenerTest, SharesAPortIfAsked) {
  const ListenOptions shared = ListenOptions().ReusePort().Backlog(10);
  absl::StatusOr<TcpListener> first =
      TcpListener::Bind(SocketAddress::Ipv4Loopback(0), shared);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(TcpListener::Bind(first->local_address(), shared), IsOk());
  EXPECT_THAT(TcpListener::Bind(first->local_address()), ErrnoIs(EADDRINUSE));
}

TEST_F(TcpListenerTest, Ipv6ListenersTakeIpv4OnlyIfAskedWhereThereIsIpv6) {
  absl::StatusOr<TcpListener> six =
      TcpListener::Bind(SocketAddress::Ipv6Any(0));
  if (!six.ok()) GTEST_SKIP() << "no IPv6: " << six.status();
  const SocketAddress four =
      SocketAddress::Ipv4Loopback(six->local_address().port());
  EXPECT_THAT(Run(TcpStream::Connect(four)), ErrnoIs(ECONNREFUSED));

  absl::StatusOr<TcpListener> both = TcpListener::Bind(
      SocketAddress::Ipv6Any(0), ListenOptions().Ipv6Only(false));
  ASSERT_THAT(both, IsOk());
  EXPECT_THAT(Run(TcpStream::Connect(
                  SocketAddress::Ipv4Loopback(both->local_address().port()))),
              IsOk());
}

TEST_F(TcpListenerTest, TakesOverDescriptors) {
  TcpListener listener = Listen();
  const SocketAddress address = listener.local_address();
  absl::StatusOr<TcpListener> again =
      TcpListener::FromFd(std::move(listener).IntoFd());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->local_address(), address);
  absl::StatusOr<TcpStream> client = Run(TcpStream::Connect(address));
  EXPECT_THAT(Run(again->Accept()), IsOk());
}

// Lets this process have no more descriptors than it has.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    getrlimit(RLIMIT_NOFILE, &old_);
    const int next = dup(0);
    close(next);
    const rlimit limit = {static_cast<rlim_t>(next), old_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &old_); }

 private:
  rlimit old_;
};

TEST_F(TcpListenerTest, AfterAShortageItPausesAndThenGoesOn) {
  TcpListener listener = Listen();
  absl::StatusOr<TcpStream> client =
      Run(TcpStream::Connect(listener.local_address()));
  ASSERT_THAT(client, IsOk());
  {
    NoMoreDescriptors shortage;
    // A pause begins with the error before it, which came after `before`.
    Instant before = Instant::Now();
    for (const int64_t pause : {0, 10, 20}) {
      const Instant start = Instant::Now();
      EXPECT_THAT(Run(listener.Accept()), ErrnoIs(EMFILE));
      EXPECT_GE(Instant::Now() - before, absl::Milliseconds(pause));
      before = start;
    }
  }
  // No new connection has come, so the reactor has nothing to say.
  EXPECT_THAT(Run(listener.Accept()), IsOk());
  // The pause is over with the first success.
  absl::StatusOr<TcpStream> another =
      Run(TcpStream::Connect(listener.local_address()));
  CountingWaker waker;
  Context cx(waker.waker());
  AcceptFuture accept = listener.Accept();
  EXPECT_TRUE(accept.Poll(cx).IsReady());
}

}  // namespace
}  // namespace weft::net
