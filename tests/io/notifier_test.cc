// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/notifier.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "weft/io/fd.h"
#include "weft/io/wake_flag.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft::io::io_internal {
namespace {

class NotifierTest : public testing::Test {
 protected:
  NotifierTest()
      : notifier_(*Notifier::Create()), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event event = {};
    event.events = EPOLLIN | EPOLLET;
    EXPECT_EQ(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, notifier_->fd(), &event),
              0);
  }
  ~NotifierTest() override { notifier_->Unref(); }

  // Whether an edge came since the last call.
  bool TakeEdge() {
    epoll_event event;
    return epoll_wait(epoll_.get(), &event, 1, 0) == 1;
  }

  Notifier* const notifier_;
  const Fd epoll_;
};

TEST_F(NotifierTest, WritesOnlyToASleeper) {
  notifier_->Notify();
  EXPECT_FALSE(TakeEdge());
  EXPECT_FALSE(notifier_->flag().BeginWait(Sleep::kInEpoll));
  notifier_->flag().EndWait();

  EXPECT_TRUE(notifier_->flag().BeginWait(Sleep::kInEpoll));
  notifier_->Notify();
  notifier_->Notify();
  notifier_->Notify();

  EXPECT_TRUE(TakeEdge());
  EXPECT_EQ(notifier_->writes(), 1u);
}

TEST_F(NotifierTest, WakesASleeperOnTheWord) {
  for (void (Notifier::*wake)() : {&Notifier::Notify, &Notifier::LeaveWord}) {
    WakeFlag& flag = notifier_->flag();
    ASSERT_TRUE(flag.BeginWait(Sleep::kOnWord));
    std::thread other([this, wake] { (notifier_->*wake)(); });
    while (flag.word().load() == static_cast<uint32_t>(Sleep::kOnWord)) {
      notifier_->SleepOnWord(Instant::Infinite());
    }
    flag.EndWait();
    other.join();
  }

  EXPECT_EQ(notifier_->writes(), 2u);
  EXPECT_FALSE(TakeEdge());
  notifier_->LeaveWord();  // of one that is awake: nothing
  EXPECT_EQ(notifier_->writes(), 2u);
}

TEST_F(NotifierTest, EachSleepHasAnEdgeWithoutReading) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(notifier_->flag().BeginWait(Sleep::kInEpoll));
    notifier_->Notify();
    ASSERT_TRUE(TakeEdge());
    ASSERT_FALSE(TakeEdge());
    notifier_->flag().EndWait();
  }
}

TEST_F(NotifierTest, FullCounterIsEmptiedOnce) {
  const uint64_t full = std::numeric_limits<uint64_t>::max() - 1;
  ASSERT_EQ(write(notifier_->fd(), &full, sizeof(full)), 8);
  ASSERT_TRUE(TakeEdge());

  ASSERT_TRUE(notifier_->flag().BeginWait(Sleep::kInEpoll));
  notifier_->Notify();

  EXPECT_TRUE(TakeEdge());
  uint64_t count = 0;
  ASSERT_EQ(read(notifier_->fd(), &count, sizeof(count)), 8);
  EXPECT_EQ(count, 1u);
}

TEST_F(NotifierTest, WakersAreReferences) {
  Waker waker = notifier_->MakeWaker();
  Waker clone = waker;
  EXPECT_TRUE(waker.WillWake(clone));
  ASSERT_TRUE(notifier_->flag().BeginWait(Sleep::kInEpoll));

  std::move(waker).Wake();

  EXPECT_TRUE(TakeEdge());
}

}  // namespace
}  // namespace weft::io::io_internal
