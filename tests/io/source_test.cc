// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/reactor.h"
#include "weft/io/readiness.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/tests/io/open_descriptors.h"
#include "weft/tests/io/reactor_scope.h"

namespace weft::io {
namespace {

// Two connected sockets: a source and its peer.
struct Pair {
  explicit Pair(int type = SOCK_STREAM) {
    int fds[2];
    socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds);
    source.emplace(Source::Adopt(Fd(fds[0])));
    peer = Fd(fds[1]);
  }

  void Send(std::string_view bytes) {
    EXPECT_EQ(send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  std::optional<Source> source;
  Fd peer;
};

// Reads up to `size` bytes.
auto ReadOp(char* to, size_t size) {
  return [to, size](int fd) { return read(fd, to, size); };
}

TEST(SourceTest, TriesBeforeItWaits) {
  ReactorScope scope;
  Pair pair;
  char byte;
  CountingWaker waker;
  Context cx(waker.waker());
  pair.Send("a");

  const Polled<IoResult> read =
      pair.source->PollIo(cx, Direction::kRead, ReadOp(&byte, 1));

  ASSERT_TRUE(read.IsReady());
  EXPECT_EQ(read->value(), 1u);
  EXPECT_EQ(waker.clones(), 0);
}

TEST(SourceTest, WakesTheReaderOnlyWhenThereIsSomething) {
  ReactorScope scope;
  Pair pair;
  char byte;
  CountingWaker waker;
  Context cx(waker.waker());
  const auto poll = [&] {
    return pair.source->PollIo(cx, Direction::kRead, ReadOp(&byte, 1));
  };
  EXPECT_TRUE(poll().IsPending());
  scope.Turn();
  EXPECT_EQ(waker.wakes(), 0);  // writable, but that is not the question

  pair.Send("a");
  scope.Turn();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(poll()->value(), 1u);
}

TEST(SourceTest, MakesNoCallThatIsKnownToBlock) {
  ReactorScope scope;
  Pair pair;
  int calls = 0;
  char byte;
  const auto op = [&](int fd) {
    ++calls;
    return read(fd, &byte, 1);
  };
  Context cx(NoopWaker());
  EXPECT_TRUE(pair.source->PollIo(cx, Direction::kRead, op).IsPending());
  EXPECT_EQ(calls, 1);

  EXPECT_TRUE(pair.source->PollIo(cx, Direction::kRead, op).IsPending());
  EXPECT_TRUE(pair.source->TryIo(Direction::kRead, op).WouldBlock());

  EXPECT_EQ(calls, 1);
}

TEST(SourceTest, ShortReadOfAStreamSavesTheNextCall) {
  ReactorScope scope;
  Pair pair;
  int calls = 0;
  char buffer[16];
  const auto op = [&](int fd) {
    ++calls;
    return read(fd, buffer, sizeof(buffer));
  };
  Context cx(NoopWaker());
  const auto poll = [&] {
    return pair.source->PollIo(cx, Direction::kRead, op, sizeof(buffer));
  };
  EXPECT_TRUE(poll().IsPending());
  calls = 0;

  for (int i = 0; i < 10; ++i) {
    pair.Send("abc");
    scope.Turn();
    EXPECT_EQ(poll()->value(), 3u);
    EXPECT_TRUE(poll().IsPending());
  }

  EXPECT_EQ(calls, 10);
}

TEST(SourceTest, ShortReadBeforeTheEndStillFindsTheEnd) {
  ReactorScope scope;
  Pair pair;
  char buffer[16];
  Context cx(NoopWaker());
  const auto poll = [&] {
    return pair.source->PollIo(cx, Direction::kRead,
                               ReadOp(buffer, sizeof(buffer)), sizeof(buffer));
  };
  EXPECT_TRUE(poll().IsPending());
  pair.Send("abc");
  pair.peer.Reset();
  scope.Turn();

  EXPECT_EQ(poll()->value(), 3u);
  EXPECT_EQ(poll()->value(), 0u);
  EXPECT_EQ(poll()->value(), 0u);
}

// A stream socket stops a read at out-of-band data, although more follows.
TEST(SourceTest, ShortReadAtUrgentDataDoesNotStall) {
  ReactorScope scope;
  const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), generic, length), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), generic, &length), 0);
  const Fd peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(peer.get(), generic, length), 0);
  Source source = std::move(
      *Source::Create(Fd(accept4(listener.get(), nullptr, nullptr, 0))));
  std::string received;
  CountingWaker waker;
  Context cx(waker.waker());
  char buffer[64];
  const auto drain = [&] {
    for (;;) {
      const Polled<IoResult> read = source.PollIo(
          cx, Direction::kRead, ReadOp(buffer, sizeof(buffer)), sizeof(buffer));
      if (read.IsPending()) return;
      received.append(buffer, read->value());
    }
  };
  drain();

  ASSERT_EQ(send(peer.get(), "abc", 3, 0), 3);
  ASSERT_EQ(send(peer.get(), "!", 1, MSG_OOB), 1);
  ASSERT_EQ(send(peer.get(), "def", 3, 0), 3);
  while (received.size() < 6) {
    scope.Wait();
    drain();
  }

  EXPECT_EQ(received, "abcdef");
}

TEST(SourceTest, AnyNumberMayWait) {
  ReactorScope scope;
  Pair pair;
  constexpr size_t kWaiters = 100;
  std::vector<std::unique_ptr<CountingWaker>> wakers;
  std::vector<std::unique_ptr<ReadinessFuture>> waits;
  for (size_t i = 0; i < kWaiters; ++i) {
    wakers.push_back(std::make_unique<CountingWaker>());
    waits.push_back(std::make_unique<ReadinessFuture>(
        i % 2 == 0 ? pair.source->Readable() : pair.source->Writable()));
  }
  for (size_t i = 0; i < kWaiters; ++i) {
    Context cx(wakers[i]->waker());
    EXPECT_TRUE(waits[i]->Poll(cx).IsPending());
  }
  waits[0].reset();  // the first of the list
  waits[50].reset();

  scope.Turn();
  for (size_t i = 0; i < kWaiters; ++i) {
    EXPECT_EQ(wakers[i]->wakes(), i % 2);
  }
  pair.Send("a");
  scope.Turn();

  for (size_t i = 0; i < kWaiters; ++i) {
    Context cx(wakers[i]->waker());
    EXPECT_EQ(wakers[i]->wakes(), i == 0 || i == 50 ? 0 : 1);
    if (waits[i] != nullptr) {
      EXPECT_THAT(*waits[i]->Poll(cx), IsOk());
    }
    EXPECT_EQ(wakers[i]->outstanding(), 0);
  }
}

TEST(SourceTest, AsyncIoServesAllWaiters) {
  ReactorScope scope;
  Pair pair(SOCK_DGRAM);
  ManualExecutor executor;
  std::array<char, 3> got = {};
  const auto receive = [](Source& source, char* to) -> Task<> {
    const auto op = ReadOp(to, 1);
    const IoResult result = co_await source.AsyncIo(Direction::kRead, op);
    EXPECT_TRUE(result.ok());
  };
  std::vector<JoinHandle<void>> handles;
  for (char& c : got) {
    handles.push_back(executor.SpawnBorrowing(receive(*pair.source, &c)));
  }
  EXPECT_EQ(executor.Drain(), 3u);

  for (const char* c : {"x", "y", "z"}) {
    pair.Send(c);
    scope.Turn();
    executor.Drain();
  }

  EXPECT_EQ(executor.live(), 0u);
  EXPECT_EQ(std::string(got.begin(), got.end()), "xyz");
}

TEST(SourceTest, WakerOfTheLastPollCounts) {
  ReactorScope scope;
  Pair pair;
  CountingWaker first;
  CountingWaker second;
  Context cx1(first.waker());
  Context cx2(second.waker());
  ReadinessFuture wait = pair.source->Readable();
  EXPECT_TRUE(pair.source->PollReadable(cx1).IsPending());
  EXPECT_TRUE(pair.source->PollReadable(cx2).IsPending());
  EXPECT_TRUE(wait.Poll(cx1).IsPending());
  EXPECT_TRUE(wait.Poll(cx2).IsPending());
  EXPECT_EQ(first.outstanding(), 0);

  pair.Send("a");
  scope.Turn();

  EXPECT_EQ(first.wakes(), 0);
  EXPECT_EQ(second.wakes(), 2);
}

// A wait that one task began and another one finishes.
TEST(SourceTest, PendingWaitMovesToAnotherTaskInsideATask) {
  ReactorScope scope;
  Pair pair;
  ManualExecutor executor;
  const auto wait = [](Source& source) -> Task<absl::Status> {
    co_return co_await source.Readable();
  };
  std::optional<Task<absl::Status>> handed_over;
  int first_resumed = 0;
  bool second_done = false;
  const auto first = [](Task<absl::Status> inner,
                        std::optional<Task<absl::Status>>& out,
                        int& resumed) -> Task<> {
    const auto poll_once = [&](Context& cx) {
      return Polled<Polled<absl::Status>>(inner.Poll(cx));
    };
    Polled<absl::Status> polled = co_await PollFn(poll_once);
    EXPECT_TRUE(polled.IsPending());
    out.emplace(std::move(inner));
    const auto count = [&](Context&) -> Polled<void> {
      if (++resumed > 1) return Unit();
      return kPending;
    };
    co_await PollFn(count);
  };
  const auto second = [](std::optional<Task<absl::Status>>& in,
                         bool& done) -> Task<> {
    Task<absl::Status> inner = std::move(*in);
    EXPECT_THAT(co_await inner, IsOk());
    done = true;
  };

  JoinHandle<void> a = executor.SpawnBorrowing(
      first(wait(*pair.source), handed_over, first_resumed));
  executor.Drain();
  ASSERT_TRUE(handed_over.has_value());
  JoinHandle<void> b =
      executor.SpawnBorrowing(second(handed_over, second_done));
  executor.Drain();
  pair.Send("a");
  scope.Turn();
  executor.Drain();

  EXPECT_TRUE(second_done);
  EXPECT_EQ(first_resumed, 1);
}

TEST(SourceTest, MovingAPolledWaitIsRefused) {
  Pair pair;
  EXPECT_DEATH(
      {
        ReactorScope scope;
        Context cx(NoopWaker());
        ReadinessFuture wait = pair.source->Readable();
        static_cast<void>(wait.Poll(cx).IsPending());
        ReadinessFuture moved = std::move(wait);
      },
      "moved after it was polled");
}

TEST(SourceTest, CloseResumesEverybody) {
  ReactorScope scope;
  const int before = OpenDescriptors();
  Pair pair;
  CountingWaker waker;
  Context cx(waker.waker());
  ReadinessFuture wait = pair.source->Readable();
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_TRUE(pair.source->PollReadable(cx).IsPending());
  scope.Turn();

  pair.source->Close();
  pair.source->Close();

  EXPECT_EQ(waker.wakes(), 2);
  EXPECT_THAT(*wait.Poll(cx), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       "the descriptor was closed"));
  EXPECT_THAT(*pair.source->PollReadable(cx),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(pair.source->IsClosed());
  EXPECT_TRUE(pair.source->Call([](int) { return 0; }).IsClosed());
  EXPECT_TRUE(
      pair.source->TryIo(Direction::kRead, [](int) { return 0; }).IsClosed());
  EXPECT_EQ(OpenDescriptors(), before + 1);  // the peer's
}

// The number is given to somebody else at once; the waiting task must not
// touch it.
TEST(SourceTest, ClosedNumberIsNeverUsedAgain) {
  ReactorScope scope;
  for (int type : {SOCK_STREAM, SOCK_DGRAM}) {
    Pair pair(type);
    ManualExecutor executor;
    std::optional<IoResult> result;
    int calls_after = -1;
    char buffer[16];
    const auto reader = [](Source& source, char* to, int& calls,
                           std::optional<IoResult>& out) -> Task<> {
      auto op = [to, &calls](int fd) {
        ++calls;
        return read(fd, to, 16);
      };
      out = co_await source.AsyncIo(Direction::kRead, op);
    };
    JoinHandle<void> handle = executor.SpawnBorrowing(
        reader(*pair.source, buffer, calls_after, result));
    executor.Drain();
    const int calls_before = calls_after;

    pair.source->Close();
    const Pair other(type);  // gets the same number
    ASSERT_EQ(send(other.peer.get(), "secret", 6, 0), 6);
    scope.Turn();
    executor.Drain();

    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(result->IsClosed());
    EXPECT_EQ(calls_after, calls_before);
  }
}

TEST(SourceTest, DestroyingTheSourceEndsItsWaits) {
  ReactorScope scope;
  std::optional<Pair> pair(std::in_place);
  CountingWaker waker;
  Context cx(waker.waker());
  ReadinessFuture polled = pair->source->Readable();
  ReadinessFuture fresh = pair->source->Readable();
  EXPECT_TRUE(polled.Poll(cx).IsPending());

  pair.reset();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*polled.Poll(cx),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(*fresh.Poll(cx), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SourceTest, ClosedReactorIsReported) {
  ReactorScope scope;
  Pair pair;
  CountingWaker waker;
  Context cx(waker.waker());
  ReadinessFuture wait = pair.source->Readable();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  scope.Close();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*wait.Poll(cx), StatusIs(absl::StatusCode::kUnavailable,
                                       testing::HasSubstr("reactor")));
  EXPECT_THAT(*pair.source->PollReadable(cx),
              StatusIs(absl::StatusCode::kUnavailable));
  char byte;
  EXPECT_TRUE(
      pair.source->TryIo(Direction::kRead, ReadOp(&byte, 1)).IsClosed());
}

TEST(SourceTest, IntoFdGivesBackWhatCreateGot) {
  ReactorScope scope;
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const Fd peer(fds[1]);
  const int flags = fcntl(fds[0], F_GETFL);
  Source source = std::move(*Source::Create(Fd(fds[0])));
  EXPECT_NE(fcntl(fds[0], F_GETFL), flags);
  CountingWaker waker;
  Context cx(waker.waker());
  ReadinessFuture wait = source.Readable();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  const Fd back = std::move(source).IntoFd();

  EXPECT_EQ(back.get(), fds[0]);
  EXPECT_EQ(fcntl(fds[0], F_GETFL), flags);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*wait.Poll(cx), StatusIs(absl::StatusCode::kFailedPrecondition));
  // The kernel no longer watches it either.
  const uint64_t events = scope.reactor().stats().events;
  ASSERT_EQ(send(peer.get(), "a", 1, 0), 1);
  scope.Turn();
  EXPECT_EQ(scope.reactor().stats().events, events);
}

TEST(SourceTest, ModeOfASharedOpenFileIsPutBack) {
  int flags[3];
  for (int fd : {0, 1, 2}) flags[fd] = fcntl(fd, F_GETFL);

  for (int fd : {0, 1, 2}) {
    absl::StatusOr<Source> source =
        Source::Create(Fd(fcntl(fd, F_DUPFD_CLOEXEC, 3)));
    if (source.ok()) source->Close();
  }

  for (int fd : {0, 1, 2}) EXPECT_EQ(fcntl(fd, F_GETFL), flags[fd]);
}

TEST(SourceTest, CreateRefusesWhatIsNoDescriptor) {
  EXPECT_THAT(Source::Create(Fd()), ErrnoIs(EBADF));
}

TEST(SourceTest, RegularFileIsAlwaysReady) {
  ReactorScope scope;
  char name[] = "/tmp/weft_source_test_XXXXXX";
  Fd file(mkostemp(name, O_CLOEXEC));
  ASSERT_TRUE(file.IsValid());
  unlink(name);
  Source source = std::move(*Source::Create(std::move(file)));
  Context cx(NoopWaker());

  EXPECT_THAT(*source.PollReadable(cx), IsOk());
  EXPECT_THAT(*source.PollWritable(cx), IsOk());
  EXPECT_EQ(source
                .PollIo(cx, Direction::kWrite,
                        [](int fd) { return write(fd, "a", 1); })
                ->value(),
            1u);
  // Nor does an operation that insists on waiting hang.
  const auto never = [](int) {
    errno = EAGAIN;
    return -1;
  };
  EXPECT_TRUE(source.PollIo(cx, Direction::kRead, never)->WouldBlock());
}

TEST(SourceTest, InterruptedCallIsRepeated) {
  Pair pair;
  int calls = 0;
  const IoResult result = pair.source->TryIo(Direction::kWrite, [&](int) {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  });

  EXPECT_EQ(result.value(), 7u);
}

TEST(SourceTest, SpentBudgetMakesItYield) {
  ReactorScope scope;
  Pair pair;
  pair.Send("abc");
  CountingWaker waker;
  Budget budget(2);
  Context cx(waker.waker(), &budget);
  char byte;
  const auto poll = [&] {
    return pair.source->PollIo(cx, Direction::kRead, ReadOp(&byte, 1));
  };

  EXPECT_TRUE(poll().IsReady());
  EXPECT_TRUE(poll().IsReady());
  EXPECT_TRUE(poll().IsPending());

  EXPECT_EQ(waker.wakes(), 1);
  Context next(waker.waker());
  EXPECT_TRUE(
      pair.source->PollIo(next, Direction::kRead, ReadOp(&byte, 1)).IsReady());
}

TEST(SourceTest, DroppedAnywhereItKeepsNothing) {
  ReactorScope scope;
  Pair pair;
  char byte;
  const auto readable = [&] { return pair.source->Readable(); };
  const auto step = [&] {
    while (pair.source->TryIo(Direction::kRead, ReadOp(&byte, 1)).ok()) {
    }
    pair.Send("a");
    scope.Turn();
    return true;
  };
  const auto drain = [&] {
    scope.Turn();
    while (pair.source->TryIo(Direction::kRead, ReadOp(&byte, 1)).ok()) {
    }
  };

  EXPECT_THAT(DropAtEveryPoll(readable, {.step = step, .settle = drain}),
              IsOkAndHolds(2u));
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return pair.source->AsyncIo(Direction::kRead,
                                                ReadOp(&byte, 1));
                  },
                  {.step = step, .settle = drain}),
              IsOkAndHolds(2u));
}

// A peer streams numbers; the reader is dropped again and again.
TEST(SourceTest, DroppedReadsLoseNoByte) {
  ReactorScope scope;
  Pair pair;
  constexpr uint32_t kRounds = 10'000;
  CountingWaker waker;
  Context cx(waker.waker());
  uint32_t sent = 0;
  uint32_t received = 0;

  while (received < kRounds) {
    uint32_t value = 0;
    // The size of a number is atomic on a local socket this empty.
    auto read = pair.source->AsyncIo(
        Direction::kRead,
        ReadOp(reinterpret_cast<char*>(&value), sizeof(value)));
    if (read.Poll(cx).IsReady()) {
      ASSERT_EQ(value, received++);
      continue;
    }
    if (sent % 3 != 0) scope.Turn();
    ASSERT_EQ(send(pair.peer.get(), &sent, sizeof(sent), 0), 4);
    ++sent;
    if (sent % 2 != 0) scope.Turn();
    value = 0xdddddddd;  // `read` is dropped here
  }

  EXPECT_GE(sent, received);
  EXPECT_EQ(waker.outstanding(), 0);
}

}  // namespace
}  // namespace weft::io
