// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "gtest/gtest.h"
#include "weft/task/status_matchers.h"

namespace weft::io {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(FdTest, ClosesWhatItOwns) {
  const int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    Fd fd(number);
    EXPECT_TRUE(fd.IsValid());
    Fd other = std::move(fd);
    EXPECT_EQ(other.get(), number);
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(FdTest, ReleaseGivesTheNumberAway) {
  int number;
  {
    Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.Release();
    EXPECT_FALSE(fd.IsValid());
  }
  EXPECT_TRUE(IsOpen(number));
  close(number);
}

TEST(FdTest, ResetKeepsErrno) {
  Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  errno = ENOENT;
  fd.Reset();

  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(fd.IsValid());
}

TEST(FdTest, SetNonBlockingSaysWhetherItChangedAnything) {
  const Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));

  EXPECT_THAT(SetNonBlocking(fd.get(), true), IsOkAndHolds(true));
  EXPECT_THAT(SetNonBlocking(fd.get(), true), IsOkAndHolds(false));
  EXPECT_THAT(SetNonBlocking(fd.get(), false), IsOkAndHolds(true));
  EXPECT_THAT(SetNonBlocking(-1, true), ErrnoIs(EBADF));
}

}  // namespace
}  // namespace weft::io
