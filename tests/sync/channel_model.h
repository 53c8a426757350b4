// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the models of a channel's two queues have in common: threads that send and
// receive, and sleep by the queue's rules when they cannot.
//
// Include it after every other header, as relacy_atomics.h.
#ifndef WEFT_TESTS_SYNC_CHANNEL_MODEL_H_
#define WEFT_TESTS_SYNC_CHANNEL_MODEL_H_

#include "weft/sync/queue_step.h"
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::sync_internal {

// A value whose accesses Relacy checks.
class ModelValue {
 public:
  explicit ModelValue(int value) : value_(value) {}
  ModelValue(ModelValue&& other) noexcept : value_(other.Get()) {
    other.value_ = 0;
  }

  int Get() const { return value_; }

 private:
  RelacyAtomics::Plain<int> value_;
};

// Who sleeps on one side, at most one of each thread.
template <unsigned kThreads>
class ModelSleepers {
 public:
  void Reset() {
    for (unsigned i = 0; i < kThreads; ++i) {
      sleeps_[i] = false;
      woken_[i](RL_INFO).store(0, rl::mo_relaxed);
    }
  }

  // Sleeps unless may_sleep() says no; on_empty() if nobody else does. ("Sleep" is a
  // macro of Relacy.)
  template <class MaySleep, class OnEmpty>
  void Doze(unsigned self, MaySleep may_sleep, OnEmpty on_empty) {
    mutex_.lock(RL_INFO);
    sleeps_[self] = may_sleep();
    const bool sleeps = sleeps_[self];
    if (!sleeps && Find() == kThreads) on_empty();
    mutex_.unlock(RL_INFO);
    if (!sleeps) return;
    while (woken_[self](RL_INFO).exchange(0, rl::mo_acquire) == 0) {
      rl::yield(1, RL_INFO);
    }
  }
  template <class OnEmpty>
  void WakeOne(OnEmpty on_empty) {
    mutex_.lock(RL_INFO);
    const unsigned found = Find();
    if (found < kThreads) {
      sleeps_[found] = false;
      if (Find() == kThreads) on_empty();
      woken_[found](RL_INFO).store(1, rl::mo_release);
    }
    mutex_.unlock(RL_INFO);
  }
  void WakeAll() {
    for (unsigned i = 0; i < kThreads; ++i) WakeOne([] {});
  }

 private:
  unsigned Find() const {
    unsigned i = 0;
    while (i < kThreads && !sleeps_[i]) ++i;
    return i;
  }

  rl::mutex mutex_;
  bool sleeps_[kThreads];
  rl::atomic<int> woken_[kThreads];
};

}  // namespace weft::sync_internal

#endif  // WEFT_TESTS_SYNC_CHANNEL_MODEL_H_
