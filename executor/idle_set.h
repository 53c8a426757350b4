// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// IdleSet: who sleeps, who searches, and whom new work wakes. Internal to the
// executor; docs/design/executor.md has the argument in full.
//
// State:
//   parked_     One bit per runner: it is parked or about to be. Set by the
//               runner; cleared by it, or by whoever thereby claims it.
//   searching_  How many tokens there are. A token is held by a runner that
//               looks for work, by a claimed runner that is about to, and for
//               a moment by whoever is claiming one.
//   waiting_    How many Tick futures wait. They hold no token, since nobody
//               knows when they will be polled.
//
// Protocol:
//   work      is published first, then Notify() looks: a token somewhere means
//             that its holder will see the work; else a parked runner is
//             claimed, with a token; else a Tick is woken.
//   sleepers  enter first (Park, AddWaiting), then look for work once more. A
//             runner that sees a token then may leave that to its holder.
//   tokens    whoever gives up the last one looks for work once more, and
//             notifies if there is some.
// Publishing, entering, giving up and looking are all sequentially consistent,
// so of two that race at least one sees the other: no work stays behind while
// somebody sleeps and nobody is on the way.
//
// Thread safety: Park, Unpark with an index by the runner that has it; the rest
// from any thread.
#ifndef WEFT_EXECUTOR_IDLE_SET_H_
#define WEFT_EXECUTOR_IDLE_SET_H_

#include <atomic>
#include <bit>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::executor_internal {

// Whom to wake: a runner's index, or one of these.
inline constexpr int kWakeNobody = -1;
inline constexpr int kWakeTick = -2;

// Up to 64 * words runners. `Atomics` lets a model checker run this code.
template <int words = 4, class Atomics = task_internal::StdAtomics>
class IdleSet {
 public:
  static constexpr int kMaxRunners = 64 * words;

  IdleSet() : searching_(0), waiting_(0) {
    // Relaxed: nobody else has seen it.
    for (auto& word : parked_) word.store(0, std::memory_order_relaxed);
  }
  IdleSet(const IdleSet&) = delete;
  IdleSet& operator=(const IdleSet&) = delete;

  // Takes a token: the caller now looks for work.
  void StartSearching() { searching_.fetch_add(1, std::memory_order_seq_cst); }

  // The same, unless `limit` tokens or more exist already.
  bool TryStartSearching(uint32_t limit) {
    // Relaxed: the limit saves work; nothing depends on it.
    if (searching_.load(std::memory_order_relaxed) >= limit) return false;
    StartSearching();
    return true;
  }

  // Gives a token up. True if it was the last: if there is work, now, the
  // caller must Notify().
  bool StopSearching() {
    return searching_.fetch_sub(1, std::memory_order_seq_cst) == 1;
  }

  // Runner `index` is going to sleep and, if `searching`, gives its token up.
  // It must look for work after this, and not sleep if there is some; unless
  // HasToken() then, since that token's holder will look.
  void Park(int index, bool searching) {
    parked_[index / 64].fetch_or(BitOf(index), std::memory_order_seq_cst);
    if (searching) StopSearching();
  }

  bool HasToken() const {
    return searching_.load(std::memory_order_seq_cst) != 0;
  }

  // False if runner `index` has been claimed since it parked.
  bool IsParked(int index) const {
    return (parked_[index / 64].load(std::memory_order_seq_cst) &
            BitOf(index)) != 0;
  }

  // Runner `index` does not sleep any more. True if it was claimed: it has a
  // token.
  bool Unpark(int index) { return !TryClear(index); }

  // One more, or one less, Tick waits. After AddWaiting it must look for work.
  void AddWaiting() { waiting_.fetch_add(1, std::memory_order_seq_cst); }
  void RemoveWaiting() { waiting_.fetch_sub(1, std::memory_order_seq_cst); }

  // Work has been published. Says whom the caller must wake: a runner, which
  // has been claimed and given a token; kWakeTick: any Tick that waits, if one
  // still does; or kWakeNobody. `has_work` looks at every queue. Runner `last`, if
  // there is one of that index, is claimed only if no other is parked.
  template <class HasWork>
  int Notify(HasWork has_work, int last = kWakeNobody) {
    for (;;) {
      if (HasToken()) return kWakeNobody;
      if (!AnyParked()) {
        return waiting_.load(std::memory_order_seq_cst) != 0 ? kWakeTick
                                                             : kWakeNobody;
      }
      uint32_t none = 0;
      if (!searching_.compare_exchange_strong(
              none, 1, std::memory_order_seq_cst, std::memory_order_seq_cst)) {
        return kWakeNobody;
      }
      const int runner = Claim(last);
      if (runner != kWakeNobody) return runner;
      // They have all got up by themselves.
      if (!StopSearching() || !has_work()) return kWakeNobody;
    }
  }

  // Several tasks have been published, and Notify() called: claims one more
  // parked runner, with a token; kWakeNobody if there is none.
  template <class HasWork>
  int NotifyAnother(HasWork has_work, int last = kWakeNobody) {
    if (!AnyParked()) return kWakeNobody;
    StartSearching();
    const int runner = Claim(last);
    if (runner != kWakeNobody) return runner;
    // Our token may have silenced somebody.
    return StopSearching() && has_work() ? Notify(has_work, last) : kWakeNobody;
  }

  // For reports; approximate while threads run.
  uint32_t searching() const {
    return searching_.load(std::memory_order_relaxed);
  }
  uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  int parked() const {
    int count = 0;
    for (const auto& word : parked_) {
      // Relaxed: a number for people.
      count += std::popcount(word.load(std::memory_order_relaxed));
    }
    return count;
  }

 private:
  template <class U>
  using Atomic = typename Atomics::template Atomic<U>;

  static constexpr uint64_t BitOf(int index) {
    return uint64_t{1} << (index % 64);
  }

  bool AnyParked() const {
    for (const auto& word : parked_) {
      if (word.load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }

  // Clears the bit of a parked runner and returns its index, or kWakeNobody.
  int Claim(int last) {
    for (int i = 0; i < words; ++i) {
      uint64_t bits = parked_[i].load(std::memory_order_seq_cst);
      if (last != kWakeNobody && last / 64 == i) bits &= ~BitOf(last);
      while (bits != 0) {
        const int index = 64 * i + std::countr_zero(bits);
        if (TryClear(index)) return index;
        bits &= ~BitOf(index);
      }
    }
    return last != kWakeNobody && TryClear(last) ? last : kWakeNobody;
  }

  bool TryClear(int index) {
    const uint64_t before =
        parked_[index / 64].fetch_and(~BitOf(index), std::memory_order_seq_cst);
    return (before & BitOf(index)) != 0;
  }

  alignas(64) Atomic<uint32_t> searching_;
  Atomic<uint32_t> waiting_;
  alignas(64) Atomic<uint64_t> parked_[words];
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_IDLE_SET_H_
