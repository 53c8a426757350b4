// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/send_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/read.h"
#include "weft/net/tcp_stream.h"
#include "weft/select/join.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/test_offload.h"
#include "weft/tests/net/fixture.h"

namespace weft::net {
namespace {

static_assert(Future<SendFileFuture> && kMovableAfterPoll<SendFileFuture>);

using testing::AnyOf;
using testing::HasSubstr;

// An unnamed file on a disk, if there is one.
io::Fd MakeFile(std::string_view contents) {
  const char* base = std::getenv("TEST_TMPDIR");
  std::string name =
      std::string(base != nullptr ? base : "/tmp") + "/fileXXXXXX";
  io::Fd fd(mkostemp(name.data(), O_CLOEXEC));
  EXPECT_TRUE(fd.IsValid());
  unlink(name.c_str());
  while (!contents.empty()) {
    const ssize_t n = write(fd.get(), contents.data(), contents.size());
    EXPECT_GT(n, 0);
    if (n <= 0) break;
    contents.remove_prefix(static_cast<size_t>(n));
  }
  return fd;
}

class SendFileTest : public NetTest {
 protected:
  Task<absl::StatusOr<uint64_t>> SendAndEnd(int file, uint64_t offset,
                                            uint64_t count) {
    absl::StatusOr<uint64_t> sent =
        co_await SendFile(pair_.server, file, offset, count);
    pair_.server.Shutdown(ShutdownHow::kWrite).IgnoreError();
    co_return sent;
  }
  Task<std::string> Receive() {
    std::string all;
    std::string buffer(100'000, '\0');
    for (;;) {
      absl::StatusOr<size_t> n = co_await io::Read(pair_.client, buffer);
      if (!n.ok() || *n == 0) co_return all;
      all.append(buffer, 0, *n);
    }
  }

  ConnectedPair pair_ = Connect();
};

TEST_F(SendFileTest, SendsAllOfALargeFile) {
  const std::string contents = Pattern(5'000'000);
  const io::Fd file = MakeFile(contents);
  auto [sent, received] =
      Run(Join(SendAndEnd(file.get(), 0, contents.size()), Receive()));
  EXPECT_THAT(sent, IsOkAndHolds(contents.size()));
  EXPECT_TRUE(received == contents);
}

TEST_F(SendFileTest, SendsAPart) {
  const std::string contents = Pattern(10'000);
  const io::Fd file = MakeFile(contents);
  lseek(file.get(), 77, SEEK_SET);
  auto [sent, received] =
      Run(Join(SendAndEnd(file.get(), 1000, 5000), Receive()));
  EXPECT_THAT(sent, IsOkAndHolds(5000u));
  EXPECT_EQ(received, contents.substr(1000, 5000));
  EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 77);
}

TEST_F(SendFileTest, StopsWhereTheFileEnds) {
  const std::string contents = Pattern(10'000);
  const io::Fd file = MakeFile(contents);
  auto [sent, received] =
      Run(Join(SendAndEnd(file.get(), 4000, 1 << 30), Receive()));
  EXPECT_THAT(sent, IsOkAndHolds(6000u));
  EXPECT_EQ(received, contents.substr(4000));
}

TEST_F(SendFileTest, NothingIsSentOfNothing) {
  const io::Fd file = MakeFile("x");
  EXPECT_THAT(Run(SendFile(pair_.server, file.get(), 0, 0)), IsOkAndHolds(0u));
  EXPECT_THAT(Run(SendFile(pair_.server, file.get(), 5, 10)), IsOkAndHolds(0u));
}

TEST_F(SendFileTest, CopiesWhatTheSystemCannotSend) {
  // Files of /proc cannot be spliced, and claim no size.
  const io::Fd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> expected;
  const ssize_t size = pread(file.get(), expected.data(), expected.size(), 0);
  ASSERT_GT(size, 0);
  auto [sent, received] =
      Run(Join(SendAndEnd(file.get(), 0, 1 << 20), Receive()));
  EXPECT_THAT(sent, IsOkAndHolds(static_cast<uint64_t>(size)));
  EXPECT_EQ(received,
            std::string_view(expected.data(), static_cast<size_t>(size)));
}

// A file that went to the disk past the system's memory. Not valid where that
// cannot be.
io::Fd MakeUncachedFile(std::string_view contents) {
  io::Fd fd = MakeFile("");
  const std::string self = "/proc/self/fd/" + std::to_string(fd.get());
  io::Fd direct(open(self.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
  void* aligned = nullptr;
  EXPECT_EQ(posix_memalign(&aligned, 4096, contents.size()), 0);
  std::memcpy(aligned, contents.data(), contents.size());
  const ssize_t n = write(direct.get(), aligned, contents.size());
  free(aligned);
  return n == static_cast<ssize_t>(contents.size()) ? std::move(fd) : io::Fd();
}

bool NeedsTheDisk(const io::Fd& file) {
  char byte;
  iovec piece = {&byte, 1};
  return file.IsValid() && preadv2(file.get(), &piece, 1, 0, RWF_NOWAIT) < 0 &&
         errno == EAGAIN;
}

// A disk may be so fast that what was asked for is there at once; so several files,
// of which every other one is only asked for.
TEST_F(SendFileTest, ReadsWhatIsNotInMemoryByAJobIfTheSystemTells) {
  const std::string contents = Pattern(3 << 20);
  fs::ThreadOffload offload;
  Environment environment = Environment::Current();
  environment.offload = &offload;
  const EnvironmentScope scope(environment);
  int told = 0;
  for (int i = 0; i < 20 && offload.jobs() == 0; ++i) {
    told += NeedsTheDisk(MakeUncachedFile(contents));
    const io::Fd file = MakeUncachedFile(contents);
    if (!file.IsValid()) break;
    pair_ = Connect();
    // Parks so that the job's thread can wake it.
    auto [sent, received] =
        BlockOn(Join(SendAndEnd(file.get(), 0, contents.size()), Receive()));
    EXPECT_THAT(sent, IsOkAndHolds(contents.size()));
    EXPECT_TRUE(received == contents);
  }
  if (offload.jobs() == 0 && told < 10) {
    GTEST_SKIP() << "this file system has everything in memory, or cannot tell";
  }
  EXPECT_GT(offload.jobs(), 0u);
}

TEST_F(SendFileTest, APeerThatIsGoneIsAnErrorAndNoSignal) {
  const std::string contents = Pattern(5'000'000);
  const io::Fd file = MakeFile(contents);
  {
    TcpStream gone = std::move(pair_.client);
  }
  absl::StatusOr<uint64_t> sent;
  for (int i = 0; i < 100; ++i) {
    sent = Run(SendFile(pair_.server, file.get(), 0, contents.size()));
    if (!sent.ok()) break;
  }
  EXPECT_THAT(sent, AnyOf(ErrnoIs(EPIPE), ErrnoIs(ECONNRESET)));
  EXPECT_THAT(sent.status().message(), HasSubstr("sendfile 127.0.0.1:"));
  EXPECT_THAT(Run(SendFile(pair_.server, file.get(), 0, 1)), ErrnoIs(EPIPE));
}

TEST_F(SendFileTest, DroppedItTellsHowMuchWasSent) {
  const std::string contents = Pattern(20'000'000);
  const io::Fd file = MakeFile(contents);
  uint64_t sent = 0;
  {
    SendFileFuture future =
        SendFile(pair_.server, file.get(), 0, contents.size());
    Context cx(NoopWaker());
    EXPECT_TRUE(future.Poll(cx).IsPending());
    SendFileFuture moved = std::move(future);
    EXPECT_TRUE(moved.Poll(cx).IsPending());
    sent = moved.sent();
    EXPECT_GT(sent, 0u);
  }
  pair_.server.Shutdown(ShutdownHow::kWrite).IgnoreError();
  EXPECT_TRUE(Run(Receive()) == contents.substr(0, sent));
}

TEST_F(SendFileTest, CanBeDroppedAtEveryPoll) {
  const io::Fd file = MakeFile(Pattern(1'000'000));
  std::string sink(1'000'000, '\0');
  const auto fill = [&] {
    Context cx(NoopWaker());
    while (pair_.server.PollWrite(cx, sink).IsReady()) {
    }
  };
  DropAtEveryPollOptions options;
  options.step = [&] {
    Context cx(NoopWaker());
    while (pair_.client.PollRead(cx, sink).IsReady()) {
    }
    return scope_.Turn();
  };
  // A stream keeps the last waker of a direction until the next poll.
  options.settle = fill;
  fill();
  EXPECT_THAT(
      DropAtEveryPoll(
          [&] { return SendFile(pair_.server, file.get(), 0, 500); }, options),
      IsOkAndHolds(testing::Ge(2u)));
}

TEST_F(SendFileTest, CloseResumesIt) {
  const io::Fd file = MakeFile(Pattern(20'000'000));
  auto sending =
      executor_.SpawnBorrowing(SendAndEnd(file.get(), 0, 20'000'000));
  executor_.RunUntilIdle();
  EXPECT_FALSE(sending.IsFinished());
  pair_.server.Close();
  EXPECT_THAT(Run(std::move(sending)), StatusIs(io::ClosedStatus().code()));
}

TEST_F(SendFileTest, NamesAFileThatCannotBeRead) {
  std::array<int, 2> pipe_ends;
  ASSERT_EQ(pipe2(pipe_ends.data(), O_CLOEXEC), 0);
  const io::Fd reader(pipe_ends[0]), writer(pipe_ends[1]);
  EXPECT_THAT(Run(SendFile(pair_.server, reader.get(), 0, 10)),
              ErrnoIs(ESPIPE));
}

}  // namespace
}  // namespace weft::net
