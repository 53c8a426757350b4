// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/sigpipe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "weft/io/fd.h"

namespace weft::io {
namespace {

using Write = ssize_t (*)(int, const void*, size_t);

class SigpipeTest : public testing::TestWithParam<Write> {
 protected:
  SigpipeTest() {
    signal(SIGPIPE, SIG_DFL);
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    reader_ = Fd(fds[0]);
    writer_ = Fd(fds[1]);
  }

  bool IsPending() {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  Fd reader_;
  Fd writer_;
};

TEST_P(SigpipeTest, Writes) {
  EXPECT_EQ(GetParam()(writer_.get(), "abc", 3), 3);
  char buffer[4];
  EXPECT_EQ(read(reader_.get(), buffer, 4), 3);
}

TEST_P(SigpipeTest, BrokenPipeIsAnError) {
  reader_.Reset();

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(GetParam()(writer_.get(), "a", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }

  EXPECT_FALSE(IsPending());
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
}

TEST_P(SigpipeTest, FullPipeWouldBlock) {
  char much[4096] = {};
  ssize_t written;
  do {
    written = GetParam()(writer_.get(), much, sizeof(much));
  } while (written > 0);

  EXPECT_EQ(errno, EAGAIN);
}

// A signal that somebody else raised, and blocks, is left alone.
TEST_P(SigpipeTest, PendingSignalOfSomebodyElseStays) {
  sigset_t sigpipe;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, nullptr);
  raise(SIGPIPE);
  reader_.Reset();

  EXPECT_EQ(GetParam()(writer_.get(), "a", 1), -1);
  EXPECT_EQ(errno, EPIPE);

  EXPECT_TRUE(IsPending());
  int signal_number;
  sigwait(&sigpipe, &signal_number);
  pthread_sigmask(SIG_UNBLOCK, &sigpipe, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Ways, SigpipeTest,
                         testing::Values(&WriteNoSigpipe,
                                         &io_internal::WriteBlockingSigpipe),
                         [](const testing::TestParamInfo<Write>& info) {
                           return info.index == 0 ? "Chosen" : "Blocking";
                         });

}  // namespace
}  // namespace weft::io
