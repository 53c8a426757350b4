// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/tcp_stream.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/io/async_io.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/read.h"
#include "weft/io/write.h"
#include "weft/io/write_all.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_listener.h"
#include "weft/select/join.h"
#include "weft/select/select.h"
#include "weft/task/borrow.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/net/fixture.h"
#include "weft/timer/timeout.h"

namespace weft::net {
namespace {

static_assert(io::AsyncRead<TcpStream> && io::AsyncWrite<TcpStream>);
static_assert(io::AsyncRead<TcpReadHalf> && io::AsyncWrite<TcpWriteHalf>);
static_assert(io::AsyncRead<OwnedTcpReadHalf> &&
              io::AsyncWrite<OwnedTcpWriteHalf>);
static_assert(kBorrows<TcpReadHalf> && kBorrows<TcpWriteHalf>);
static_assert(!kBorrows<OwnedTcpReadHalf> && !kBorrows<OwnedTcpWriteHalf>);
static_assert(Future<TcpConnectFuture> && kMovableAfterPoll<TcpConnectFuture>);

using testing::AnyOf;
using testing::HasSubstr;
using std::string_view_literals::operator""sv;

using TcpStreamTest = NetTest;

// Everything up to the end of `reader`, in pieces of `piece`.
template <class R>
Task<absl::StatusOr<std::string>> ReadToEnd(R* reader, size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  for (;;) {
    absl::StatusOr<size_t> n = co_await io::Read(*reader, buffer);
    if (!n.ok()) co_return n.status();
    if (*n == 0) co_return all;
    all.append(buffer, 0, *n);
  }
}

template <class W>
Task<absl::Status> WriteAndEnd(W* writer, std::string data) {
  absl::Status status = co_await io::WriteAll(*writer, data);
  if (!status.ok()) co_return status;
  co_return co_await io::Shutdown(*writer);
}

TEST_F(TcpStreamTest, ConnectsAndTalks) {
  TcpListener listener = Listen();
  absl::StatusOr<TcpStream> client =
      Run(TcpStream::Connect(listener.local_address()));
  ASSERT_THAT(client, IsOk());
  absl::StatusOr<TcpStream> server = Run(listener.Accept());
  ASSERT_THAT(server, IsOk());

  EXPECT_EQ(client->peer_address(), listener.local_address());
  EXPECT_THAT(server->local_address(), IsOkAndHolds(listener.local_address()));
  EXPECT_THAT(client->local_address(), IsOkAndHolds(server->peer_address()));

  EXPECT_THAT(Run(io::WriteAll(*client, "hello"sv)), IsOk());
  std::array<char, 10> buffer;
  EXPECT_THAT(Run(io::Read(*server, buffer)), IsOkAndHolds(5u));
  EXPECT_EQ(std::string_view(buffer.data(), 5), "hello");
  EXPECT_THAT(Run(io::Flush(*client)), IsOk());
  EXPECT_THAT(Run(io::Read(*server, std::span<char>())), IsOkAndHolds(0u));
  EXPECT_THAT(Run(io::Write(*server, std::span<const char>())),
              IsOkAndHolds(0u));
}

TEST_F(TcpStreamTest, ConnectsOverIpv6WhereThereIsIpv6) {
  absl::StatusOr<TcpListener> listener =
      TcpListener::Bind(SocketAddress::Ipv6Loopback(0));
  if (!listener.ok()) GTEST_SKIP() << "no IPv6: " << listener.status();
  absl::StatusOr<TcpStream> client =
      Run(TcpStream::Connect(listener->local_address()));
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ(client->peer_address().family(), AddressFamily::kIpv6);
}

// A port that is bound, so that nobody else gets it, and not listened on.
class BoundPort {
 public:
  BoundPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const SocketAddress any = SocketAddress::Ipv4Loopback(0);
    EXPECT_EQ(bind(fd_.get(), any.data(), any.size()), 0);
    sockaddr_in name;
    socklen_t size = sizeof(name);
    EXPECT_EQ(getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&name), &size),
              0);
    address_ =
        *SocketAddress::FromSockaddr(reinterpret_cast<sockaddr*>(&name), size);
  }
  int fd() const { return fd_.get(); }
  const SocketAddress& address() const { return address_; }

 private:
  io::Fd fd_;
  SocketAddress address_;
};

TEST_F(TcpStreamTest, ConnectReportsThatNobodyListens) {
  const BoundPort port;
  const int before = OpenDescriptors();
  for (int i = 0; i < 1000; ++i) {
    absl::StatusOr<TcpStream> stream = Run(TcpStream::Connect(port.address()));
    ASSERT_THAT(stream, ErrnoIs(ECONNREFUSED));
  }
  EXPECT_EQ(OpenDescriptors(), before);
  absl::StatusOr<TcpStream> stream = Run(TcpStream::Connect(port.address()));
  EXPECT_THAT(stream, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("connect 127.0.0.1:")));
}

TEST_F(TcpStreamTest, ConnectReportsThatTheListenerHasGone) {
  std::optional<TcpListener> listener = Listen();
  const SocketAddress address = listener->local_address();
  listener.reset();
  EXPECT_THAT(Run(TcpStream::Connect(address)), ErrnoIs(ECONNREFUSED));
}

// A listener whose queue is full answers no further connects: they stay in
// progress.
class FullListener {
 public:
  FullListener() {
    EXPECT_EQ(listen(port_.fd(), 0), 0);
    for (int i = 0; i < 3; ++i) {
      fillers_[i] = io::Fd(
          socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      connect(fillers_[i].get(), address().data(), address().size());
    }
  }
  const SocketAddress& address() const { return port_.address(); }

 private:
  BoundPort port_;
  std::array<io::Fd, 3> fillers_;
};

TEST_F(TcpStreamTest, ConnectWaitsAsLongAsNothingIsDecided) {
  const FullListener full;
  const int before = OpenDescriptors();
  EXPECT_THAT(Run(timer::Timeout(absl::Milliseconds(30),
                                 TcpStream::Connect(full.address()))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(TcpStreamTest, ADroppedConnectClosesItsSocket) {
  const FullListener full;
  const int before = OpenDescriptors();
  {
    TcpConnectFuture future = TcpStream::Connect(full.address());
    EXPECT_EQ(OpenDescriptors(), before);
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(future.Poll(cx).IsPending());
    EXPECT_EQ(OpenDescriptors(), before + 1);
    TcpConnectFuture moved = std::move(future);
    EXPECT_TRUE(moved.Poll(cx).IsPending());
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

constexpr uint16_t kOnlyPort = 40000;

// Moves this process to a network of its own in which sockets are given
// kOnlyPort unless they ask for another. False where that is forbidden.
bool EnterNetworkWithOnePort() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  const io::Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback = {};
  loopback.ifr_name[0] = 'l';
  loopback.ifr_name[1] = 'o';
  loopback.ifr_flags = IFF_UP;
  if (ioctl(any.get(), SIOCSIFFLAGS, &loopback) != 0) return false;
  const io::Fd range(
      open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC));
  const std::string text =
      std::to_string(kOnlyPort) + " " + std::to_string(kOnlyPort);
  return write(range.get(), text.data(), text.size()) ==
         static_cast<ssize_t>(text.size());
}

// A plain connect to the port where nobody listens succeeds.
bool ConnectsToItself(const SocketAddress& address) {
  const io::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const linger at_once = {1, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  return connect(fd.get(), address.data(), address.size()) == 0;
}

enum ChildResult { kRefused = 0, kConnected = 1, kCannotTell = 2 };

TEST_F(TcpStreamTest,
       ASocketThatTheSystemConnectsToItselfIsRefusedIfItGetsANetwork) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const SocketAddress address = SocketAddress::Ipv4Loopback(kOnlyPort);
    if (!EnterNetworkWithOnePort() || !ConnectsToItself(address)) {
      _exit(kCannotTell);
    }
    NetScope scope;
    ManualExecutor executor;
    absl::StatusOr<TcpStream> stream =
        scope.Run(executor, TcpStream::Connect(address));
    _exit(ErrnoOf(stream.status()) == ECONNREFUSED ? kRefused : kConnected);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  ASSERT_TRUE(WIFEXITED(result));
  if (WEXITSTATUS(result) == kCannotTell) {
    GTEST_SKIP() << "no network of its own for this test";
  }
  EXPECT_EQ(WEXITSTATUS(result), kRefused);
}

TEST_F(TcpStreamTest, MovesMuchBothWaysThroughSmallBuffers) {
  ConnectedPair pair = Connect();
  // A small receive buffer would wait for delayed acknowledgements.
  for (TcpStream* stream : {&pair.client, &pair.server}) {
    stream->source()
        .Call([&](int fd) -> ssize_t {
          const int size = 4096;
          return setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        })
        .status("setsockopt")
        .IgnoreError();
  }
  const std::string there = Pattern(3'000'000);
  const std::string back = Pattern(2'000'003).substr(3);
  auto [client_reader, client_writer] = pair.client.Split();
  auto [server_reader, server_writer] = pair.server.Split();
  auto [sent, received, answered, got] = Run(
      Join(WriteAndEnd(&client_writer, there), ReadToEnd(&server_reader, 1000),
           WriteAndEnd(&server_writer, back), ReadToEnd(&client_reader, 3000)));
  EXPECT_THAT(sent, IsOk());
  EXPECT_THAT(answered, IsOk());
  ASSERT_THAT(received, IsOk());
  ASSERT_THAT(got, IsOk());
  EXPECT_TRUE(*received == there);
  EXPECT_TRUE(*got == back);
}

TEST_F(TcpStreamTest, EachDirectionEndsByItself) {
  ConnectedPair pair = Connect();
  EXPECT_THAT(Run(WriteAndEnd(&pair.client, "ask")), IsOk());
  EXPECT_THAT(Run(ReadToEnd(&pair.server, 10)), IsOkAndHolds("ask"));
  // The other direction is still open.
  EXPECT_THAT(Run(WriteAndEnd(&pair.server, "answer")), IsOk());
  EXPECT_THAT(Run(ReadToEnd(&pair.client, 10)), IsOkAndHolds("answer"));
  // Again and again: the end.
  std::array<char, 1> byte;
  EXPECT_THAT(Run(io::Read(pair.client, byte)), IsOkAndHolds(0u));
  EXPECT_THAT(Run(io::Read(pair.client, byte)), IsOkAndHolds(0u));
  EXPECT_THAT(Run(io::Shutdown(pair.client)), IsOk());
  EXPECT_THAT(Run(io::Write(pair.client, "x"sv)), ErrnoIs(EPIPE));
}

TEST_F(TcpStreamTest, ShutdownForReadingEndsAWaitingRead) {
  ConnectedPair pair = Connect();
  JoinHandle<absl::StatusOr<std::string>> reading =
      executor_.SpawnBorrowing(ReadToEnd(&pair.client, 10));
  executor_.RunUntilIdle();
  EXPECT_FALSE(reading.IsFinished());
  EXPECT_THAT(pair.client.Shutdown(ShutdownHow::kRead), IsOk());
  EXPECT_THAT(Run(std::move(reading)), IsOkAndHolds(""));
}

TEST_F(TcpStreamTest, WritingToAClosedConnectionIsAnErrorAndNoSignal) {
  ConnectedPair pair = Connect();
  {
    TcpStream gone = std::move(pair.server);
  }
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = Run(io::WriteAll(pair.client, Pattern(10'000)));
  }
  EXPECT_THAT(status, AnyOf(ErrnoIs(EPIPE), ErrnoIs(ECONNRESET)));
  EXPECT_THAT(Run(io::Write(pair.client, "x"sv)), ErrnoIs(EPIPE));
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1:"));
  // There is nobody left to be told.
  EXPECT_THAT(Run(io::Shutdown(pair.client)), IsOk());
}

TEST_F(TcpStreamTest, AResetIsReportedToTheReader) {
  ConnectedPair pair = Connect();
  pair.server.source()
      .Call([](int fd) -> ssize_t {
        const linger at_once = {1, 0};
        return setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      })
      .status("linger")
      .IgnoreError();
  {
    TcpStream gone = std::move(pair.server);
  }
  std::array<char, 1> byte;
  EXPECT_THAT(Run(io::Read(pair.client, byte)), ErrnoIs(ECONNRESET));
}

TEST_F(TcpStreamTest, MovesSeveralPiecesAtOnce) {
  ConnectedPair pair = Connect();
  std::string head = "head ", body = "body", none;
  const std::array<iovec, 3> out = {iovec{head.data(), head.size()},
                                    iovec{none.data(), 0},
                                    iovec{body.data(), body.size()}};
  EXPECT_THAT(
      Run(PollFn([&](Context& cx) { return pair.client.PollWriteV(cx, out); })),
      IsOkAndHolds(9u));
  std::array<char, 6> first;
  std::array<char, 100> second;
  const std::array<iovec, 2> in = {iovec{first.data(), first.size()},
                                   iovec{second.data(), second.size()}};
  EXPECT_THAT(
      Run(PollFn([&](Context& cx) { return pair.server.PollReadV(cx, in); })),
      IsOkAndHolds(9u));
  EXPECT_EQ(std::string_view(first.data(), 6), "head b");
  EXPECT_EQ(std::string_view(second.data(), 3), "ody");
  // More pieces than the system takes.
  std::vector<iovec> many(3000, iovec{head.data(), 1});
  EXPECT_THAT(Run(PollFn([&](Context& cx) {
                return pair.client.PollWriteV(cx, many);
              })),
              IsOkAndHolds(1024u));
  EXPECT_THAT(Run(PollFn([&](Context& cx) {
                return pair.client.PollWriteV(cx, std::span<const iovec>());
              })),
              IsOkAndHolds(0u));
}

TEST_F(TcpStreamTest, HasAnOptionAgainstHoldingBackSmallWrites) {
  ConnectedPair pair = Connect();
  EXPECT_THAT(pair.client.no_delay(), IsOkAndHolds(false));
  EXPECT_THAT(pair.client.SetNoDelay(true), IsOk());
  EXPECT_THAT(pair.client.no_delay(), IsOkAndHolds(true));
  EXPECT_THAT(pair.client.SetNoDelay(false), IsOk());
  EXPECT_THAT(pair.client.no_delay(), IsOkAndHolds(false));
}

TEST_F(TcpStreamTest, CloseResumesWhoWaits) {
  const int before = OpenDescriptors();
  {
    ConnectedPair pair = Connect();
    JoinHandle<absl::StatusOr<std::string>> reading =
        executor_.SpawnBorrowing(ReadToEnd(&pair.client, 10));
    JoinHandle<absl::Status> writing = executor_.SpawnBorrowing(
        WriteAndEnd(&pair.client, Pattern(30'000'000)));
    executor_.RunUntilIdle();
    scope_.Poll();
    executor_.RunUntilIdle();
    EXPECT_FALSE(reading.IsFinished());
    EXPECT_FALSE(writing.IsFinished());

    pair.client.Close();
    executor_.RunUntilIdle();
    EXPECT_TRUE(reading.IsFinished());
    EXPECT_TRUE(writing.IsFinished());
    EXPECT_THAT(Run(std::move(reading)), StatusIs(io::ClosedStatus().code()));
    EXPECT_THAT(Run(std::move(writing)), StatusIs(io::ClosedStatus().code()));
    // The number may be somebody else's now.
    EXPECT_FALSE(pair.client.local_address().ok());
    EXPECT_FALSE(pair.client.SetNoDelay(true).ok());
    EXPECT_FALSE(pair.client.Shutdown(ShutdownHow::kBoth).ok());
    std::array<char, 1> byte;
    EXPECT_THAT(Run(io::Read(pair.client, byte)),
                StatusIs(io::ClosedStatus().code()));
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

Task<absl::Status> ReadInto(OwnedTcpReadHalf reader, std::string* into) {
  absl::StatusOr<std::string> all = co_await ReadToEnd(&reader, 10);
  if (!all.ok()) co_return all.status();
  *into = *std::move(all);
  co_return absl::OkStatus();
}

TEST_F(TcpStreamTest, OwnedHalvesServeTwoTasks) {
  ConnectedPair pair = Connect();
  auto [reader, writer] = std::move(pair.client).IntoSplit();
  std::string got;
  JoinHandle<absl::Status> reading =
      executor_.SpawnBorrowing(ReadInto(std::move(reader), &got));
  EXPECT_THAT(Run(io::WriteAll(writer, "ask"sv)), IsOk());
  {
    // Dropping the half that writes ends its direction.
    OwnedTcpWriteHalf dropped = std::move(writer);
  }
  EXPECT_THAT(Run(ReadToEnd(&pair.server, 10)), IsOkAndHolds("ask"));
  EXPECT_THAT(Run(WriteAndEnd(&pair.server, "answer")), IsOk());
  EXPECT_THAT(Run(std::move(reading)), IsOk());
  EXPECT_EQ(got, "answer");
}

TEST_F(TcpStreamTest, OwnedHalvesBecomeTheStreamAgain) {
  const int before = OpenDescriptors();
  {
    ConnectedPair pair = Connect();
    const SocketAddress peer = pair.client.peer_address();
    auto [reader, writer] = std::move(pair.client).IntoSplit();
    TcpStream whole = std::move(reader).Reunite(std::move(writer));
    EXPECT_EQ(whole.peer_address(), peer);
    EXPECT_THAT(Run(WriteAndEnd(&whole, "x")), IsOk());
    EXPECT_THAT(Run(ReadToEnd(&pair.server, 10)), IsOkAndHolds("x"));

    auto [server_reader, server_writer] = std::move(pair.server).IntoSplit();
    std::move(server_writer).Forget();
    OwnedTcpReadHalf last = std::move(server_reader);
    std::array<char, 1> byte;
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(whole.PollRead(cx, byte).IsPending());  // not ended
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(TcpStreamTest, HalvesOfTwoStreamsDoNotFit) {
  ConnectedPair pair = Connect();
  auto [reader, writer] = std::move(pair.client).IntoSplit();
  auto [other_reader, other_writer] = std::move(pair.server).IntoSplit();
  EXPECT_DEATH(
      static_cast<void>(std::move(reader).Reunite(std::move(other_writer))),
      "two halves of one stream");
}

TEST_F(TcpStreamTest, TakesOverAndGivesBackDescriptors) {
  ConnectedPair pair = Connect();
  io::Fd fd = std::move(pair.client).IntoFd();
  ASSERT_TRUE(fd.IsValid());
  EXPECT_NE(fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  absl::StatusOr<TcpStream> again = TcpStream::FromFd(std::move(fd));
  ASSERT_THAT(again, IsOk());
  EXPECT_THAT(Run(WriteAndEnd(&*again, "x")), IsOk());
  EXPECT_THAT(Run(ReadToEnd(&pair.server, 10)), IsOkAndHolds("x"));
  EXPECT_THAT(TcpStream::FromFd(io::Fd(socket(AF_INET, SOCK_STREAM, 0))),
              ErrnoIs(ENOTCONN));
}

// A wait that is begun in one task and ended in another wakes the second one.
Task<absl::StatusOr<std::string>> ReadOneByte(TcpStream* stream) {
  std::string byte(1, '\0');
  absl::StatusOr<size_t> n = co_await io::Read(*stream, byte);
  if (!n.ok()) co_return n.status();
  co_return byte;
}

TEST_F(TcpStreamTest, AWaitThatMovesToAnotherTaskWakesThatOne) {
  ConnectedPair pair = Connect();
  Task<absl::StatusOr<std::string>> read = ReadOneByte(&pair.server);
  CountingWaker first, second;
  Context first_cx(first.waker()), second_cx(second.waker());
  EXPECT_TRUE(read.Poll(first_cx).IsPending());
  Task<absl::StatusOr<std::string>> moved = std::move(read);
  EXPECT_TRUE(moved.Poll(second_cx).IsPending());

  EXPECT_THAT(Run(io::WriteAll(pair.client, "x"sv)), IsOk());
  while (second.wakes() == 0) ASSERT_TRUE(scope_.Turn());
  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(first.outstanding(), 0);
  Polled<absl::StatusOr<std::string>> polled = moved.Poll(second_cx);
  ASSERT_TRUE(polled.IsReady());
  EXPECT_THAT(*polled, IsOkAndHolds("x"));
}

Task<absl::StatusOr<std::string>> LoseThenPass(
    Task<absl::StatusOr<std::string>>* read,
    std::optional<Task<absl::StatusOr<std::string>>>* passed) {
  auto select = Select(*read, YieldNow());
  co_await select;
  passed->emplace(std::move(*read));
  co_return absl::UnknownError("it lost");
}

TEST_F(TcpStreamTest, AWaitThatLostASelectGoesOnInAnotherTask) {
  ConnectedPair pair = Connect();
  Task<absl::StatusOr<std::string>> read = ReadOneByte(&pair.server);
  std::optional<Task<absl::StatusOr<std::string>>> passed;
  JoinHandle<absl::StatusOr<std::string>> loser =
      executor_.SpawnBorrowing(LoseThenPass(&read, &passed));
  executor_.RunUntilIdle();
  ASSERT_TRUE(loser.IsFinished());
  ASSERT_TRUE(passed.has_value());
  const size_t runs = executor_.runs();
  JoinHandle<absl::StatusOr<std::string>> winner =
      executor_.SpawnBorrowing(*std::move(passed));
  executor_.RunUntilIdle();
  EXPECT_FALSE(winner.IsFinished());
  EXPECT_THAT(Run(io::WriteAll(pair.client, "x"sv)), IsOk());
  EXPECT_THAT(Run(std::move(winner)), IsOkAndHolds("x"));
  EXPECT_EQ(executor_.runs(), runs + 2);
}

TEST_F(TcpStreamTest, ReadsAndWritesMayBeDroppedAtEveryPoll) {
  ConnectedPair pair = Connect();
  std::array<char, 1> byte;
  DropAtEveryPollOptions options;
  options.step = [&] {
    CountingWaker waker;
    Context cx(waker.waker());
    auto polled = pair.client.PollWrite(cx, "x"sv);
    EXPECT_TRUE(polled.IsReady() && polled->ok());
    return scope_.Turn();
  };
  // A stream keeps the last waker of a direction until the next poll.
  options.settle = [&] {
    Context cx(NoopWaker());
    EXPECT_TRUE(pair.server.PollRead(cx, byte).IsPending());
  };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return io::Read(pair.server, byte); }, options),
      IsOkAndHolds(2u));

  // The other direction: full, until the peer reads.
  const std::string much = Pattern(100'000);
  const auto fill = [&] {
    Context cx(NoopWaker());
    while (pair.client.PollWrite(cx, much).IsReady()) {
    }
  };
  std::string sink(1'000'000, '\0');
  options.step = [&] {
    Context cx(NoopWaker());
    while (pair.server.PollRead(cx, sink).IsReady()) {
    }
    return scope_.Turn();
  };
  options.settle = fill;
  fill();
  EXPECT_THAT(
      DropAtEveryPoll([&] { return io::Write(pair.client, much); }, options),
      IsOkAndHolds(testing::Ge(2u)));
}

TEST_F(TcpStreamTest, ConnectMayBeDroppedAtEveryPoll) {
  TcpListener listener = Listen();
  const int before = OpenDescriptors();
  DropAtEveryPollOptions options;
  options.step = [&] { return scope_.Turn(); };
  options.settle = [&] {
    Context cx(NoopWaker());
    for (;;) {
      AcceptFuture accept = listener.Accept();
      if (accept.Poll(cx).IsPending()) break;
    }
  };
  options.live = [&] { return OpenDescriptors() - before; };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return TcpStream::Connect(listener.local_address()); },
                  options),
              IsOk());
}

}  // namespace
}  // namespace weft::net
