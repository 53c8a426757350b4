// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of executor/local_inbox.h: two senders and an owner that sleeps when
// it has nothing to do. The owner's parker is a flag; everything beside the inbox
// is relaxed or plain, so that the inbox alone orders it.

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/executor/local_inbox.h"

// After every other header: Relacy makes macros of functions.
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft::executor_internal {
namespace {

constexpr int kSenders = 2;
constexpr int kLetters = 2;  // of each

template <class Atomics>
struct InboxModel : rl::test_suite<InboxModel<Atomics>, kSenders + 1> {
  using Inbox = BasicLocalInbox<Atomics>;
  using Sent = typename Inbox::Sent;

  Lazy<Inbox> inbox;
  rl::atomic<int> unparked;
  rl::var<int> items[kSenders * kLetters];  // their addresses are sent

  void before() {
    inbox.Emplace();
    inbox->Open();
    unparked(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& item : items) item(RL_INFO) = 0;
  }
  void after() { inbox.Destroy(); }

  void thread(unsigned index) {
    if (index == kSenders) return Own();
    for (int i = 0; i < kLetters; ++i) {
      auto& item = items[index * kLetters + i];
      item(RL_INFO) = 1;
      const Sent sent = inbox->Send(&item);
      RL_ASSERT(sent != Sent::kClosed);
      if (sent == Sent::kUnpark) {
        // One unpark for each sleep.
        RL_ASSERT(unparked(RL_INFO).exchange(1, rl::mo_relaxed) == 0);
      }
    }
  }

  void Own() {
    int read = 0;
    int last[kSenders] = {-1, -1};
    while (read < kSenders * kLetters) {
      if (!inbox->HasLetters()) {
        if (inbox->FallAsleep()) Park();
        inbox->WakeUp();
        continue;
      }
      inbox->TakeAll([&](void* item) {
        const int index =
            static_cast<int>(static_cast<rl::var<int>*>(item) - items);
        RL_ASSERT(static_cast<int>(items[index](RL_INFO)) == 1);
        // In the order in which they were sent.
        RL_ASSERT(index % kLetters == last[index / kLetters] + 1);
        last[index / kLetters] = index % kLetters;
        ++read;
      });
    }
    RL_ASSERT(inbox->Close());
    RL_ASSERT(inbox->Send(this) == Sent::kClosed);
  }

  void Park() {
    while (unparked(RL_INFO).exchange(0, rl::mo_relaxed) == 0) {
      rl::yield(1, RL_INFO);
    }
  }
};

TEST(LocalInboxModelTest, NoLetterIsLeftBehindASleepingOwner) {
  EXPECT_TRUE(Holds<InboxModel<RelacyAtomics>>());
}

// The model is worth something: weaker orders are noticed.
TEST(LocalInboxModelTest, NoticesAMissingRelease) {
  EXPECT_FALSE(Holds<InboxModel<WeakerAtomics<Weaken::kRelease>>>());
}

TEST(LocalInboxModelTest, NoticesAMissingAcquire) {
  EXPECT_FALSE(Holds<InboxModel<WeakerAtomics<Weaken::kAcquire>>>());
}

}  // namespace
}  // namespace weft::executor_internal
