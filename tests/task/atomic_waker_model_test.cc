// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of task/atomic_waker.h: one thread registers and looks, two wake.

#include <utility>

#include "gtest/gtest.h"
#include "weft/task/atomic_waker.h"

// After every other header: Relacy makes macros of functions.
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

// A waker of the model: wakes by setting a flag. Its own word is a plain
// variable, so that two owners of the slot at once are a race.
class ModelWaker {
 public:
  ModelWaker() { id_(RL_INFO) = 0; }
  ModelWaker(rl::atomic<int>* flag, int id) : flag_(flag) { id_(RL_INFO) = id; }
  ModelWaker(const ModelWaker& other) : flag_(other.flag_) {
    id_(RL_INFO) = static_cast<int>(other.id_(RL_INFO));
  }
  ModelWaker(ModelWaker&& other) : flag_(std::exchange(other.flag_, nullptr)) {
    id_(RL_INFO) = static_cast<int>(other.id_(RL_INFO));
    other.id_(RL_INFO) = 0;
  }
  ModelWaker& operator=(ModelWaker other) {
    std::swap(flag_, other.flag_);
    const int id = static_cast<int>(id_(RL_INFO));
    id_(RL_INFO) = static_cast<int>(other.id_(RL_INFO));
    other.id_(RL_INFO) = id;
    return *this;
  }

  void Wake() && {
    WakeByRef();
    flag_ = nullptr;
    id_(RL_INFO) = 0;
  }
  void WakeByRef() const {
    if (flag_ != nullptr) {
      (*flag_)(RL_INFO).store(static_cast<int>(id_(RL_INFO)), rl::mo_release);
    }
  }
  bool WillWake(const ModelWaker& other) const {
    return static_cast<int>(id_(RL_INFO)) ==
           static_cast<int>(other.id_(RL_INFO));
  }

 private:
  rl::atomic<int>* flag_ = nullptr;
  rl::var<int> id_;  // 0: empty
};

// The receiver waits for both senders, with another waker at each poll.
template <class Atomics>
struct WakerModel : rl::test_suite<WakerModel<Atomics>, 3> {
  BasicAtomicWaker<Atomics, ModelWaker> waker;
  rl::atomic<int> sent[2];
  rl::atomic<int> woken;

  void before() {
    for (auto& flag : sent) flag(RL_INFO).store(0, rl::mo_relaxed);
    woken(RL_INFO).store(0, rl::mo_relaxed);
  }

  bool BothSent() {
    return sent[0](RL_INFO).load(rl::mo_relaxed) == 1 &&
           sent[1](RL_INFO).load(rl::mo_relaxed) == 1;
  }

  void thread(unsigned index) {
    if (index < 2) {
      sent[index](RL_INFO).store(1, rl::mo_relaxed);
      waker.Wake();
      return;
    }
    for (int poll = 1;; ++poll) {
      waker.Register(ModelWaker(&woken, poll));
      if (BothSent()) return;
      // A wake of an older waker counts too: some are spurious.
      while (woken(RL_INFO).exchange(0, rl::mo_acquire) == 0)
        rl::yield(1, RL_INFO);
    }
  }
};

constexpr unsigned kExecutions = 20'000;

TEST(AtomicWakerModelTest, NoWakeIsLost) {
  EXPECT_TRUE(Holds<WakerModel<RelacyAtomics>>(kExecutions));
}

TEST(AtomicWakerModelTest, NoticesAMissingRelease) {
  EXPECT_FALSE(Holds<WakerModel<WeakerAtomics<Weaken::kRelease>>>(kExecutions));
}

TEST(AtomicWakerModelTest, NoticesAMissingAcquire) {
  EXPECT_FALSE(Holds<WakerModel<WeakerAtomics<Weaken::kAcquire>>>(kExecutions));
}

}  // namespace
}  // namespace weft
