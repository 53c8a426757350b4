// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the models of a channel's queues have in common: values, and threads that
// sleep by the production code's rules (sync/channel_waits.h) when they cannot go on.
//
// Include it after every other header, as relacy_atomics.h.
#ifndef WEFT_TESTS_SYNC_CHANNEL_MODEL_H_
#define WEFT_TESTS_SYNC_CHANNEL_MODEL_H_

#include <atomic>

#include "weft/sync/channel_waits.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/model_flag.h"
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

// Atomics that notice an access which nothing orders before their destruction.
template <class Base>
struct MortalAtomics {
  static void Yield() { Base::Yield(); }

  template <class T>
  class Atomic {
   public:
    Atomic(T value) : alive_(true), atomic_(value) {}  // NOLINT: implicit
    ~Atomic() { alive_ = false; }

    T load(std::memory_order order) const {
      RL_ASSERT(alive_);
      return atomic_.load(order);
    }
    void store(T value, std::memory_order order) {
      RL_ASSERT(alive_);
      atomic_.store(value, order);
    }
    T exchange(T value, std::memory_order order) {
      RL_ASSERT(alive_);
      return atomic_.exchange(value, order);
    }

   private:
    RelacyAtomics::Plain<bool> alive_;
    typename Base::template Atomic<T> atomic_;
  };
};

// Who sleeps at the channel of a model, each thread at one place at a time.
template <class Atomics, unsigned kThreads>
class ModelWaits {
 public:
  using Waits = BasicChannelWaits<MortalAtomics<Atomics>, RelacyMutex>;
  using Node = typename Waits::Node;

  void Emplace() {
    waits_.Emplace();
    for (ModelFlag& flag : flags_) flag.Reset();
  }
  void Destroy() { waits_.Destroy(); }

  Waits& operator*() { return *waits_; }
  Waits* operator->() { return &*waits_; }

  // Calls poll(Context&) as the executor of thread `self` would.
  template <class Poll>
  auto PollOnce(unsigned self, bool prompt, Poll poll) {
    const BorrowedWaker waker = flags_[self].waker();
    Context cx = Context(waker.get()).WithPromptness(prompt);
    return poll(cx);
  }
  // Until it is woken, or before that: any poll may be one too many.
  void AwaitPoll(unsigned self) {
    if (rl::rand(2) == 0) flags_[self].Wait();
  }

  // As one poll of a thread that waits in `list`, and the sleep after it.
  template <class MaySleep, class OnEmpty>
  void Sleep(unsigned self, WaitQueue& list, Node& node, MaySleep may_sleep,
             OnEmpty on_empty) {
    const bool sleeps = PollOnce(self, /*prompt=*/true, [&](Context& cx) {
      return waits_->Sleep(list, node, cx, may_sleep, on_empty);
    });
    if (sleeps) AwaitPoll(self);
  }

 private:
  Lazy<Waits> waits_;
  ModelFlag flags_[kThreads];
};

}  // namespace weft::sync_internal

#endif  // WEFT_TESTS_SYNC_CHANNEL_MODEL_H_
