// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// NotifyWord: the state of a Notify without its queue. Internal;
// sync/notify.h uses it.
//
// One word:
//
//   kPermit   A notification is kept. Set and taken by anybody, but never set
//             while kWaiting is.
//   kWaiting  Somebody is in the queue, so a notification is for the queue.
//             Set and cleared with the queue's lock held; excludes kPermit.
//   2..       How often all were notified. Written with the lock held.
//
// Each change is a read-modify-write of the one word, so a notification either
// comes before a waiter's kWaiting, and is a permit which that waiter takes
// instead, or after it, and then goes to the queue.
//
// Thread safety: any thread; where it says so, with the queue's lock held.
#ifndef WEFT_SYNC_NOTIFY_WORD_H_
#define WEFT_SYNC_NOTIFY_WORD_H_

#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::sync_internal {

// `Atomics` lets a model checker run this code.
template <class Atomics = task_internal::StdAtomics>
class BasicNotifyWord {
 public:
  enum class Begun { kWaits, kHasPermit, kAllWereNotified };

  constexpr BasicNotifyWord() : word_(0) {}
  BasicNotifyWord(const BasicNotifyWord&) = delete;
  BasicNotifyWord& operator=(const BasicNotifyWord&) = delete;

  // Keeps a permit. False if the notification is for the queue: lock it.
  bool TryLeavePermit() {
    // Relaxed: the exchange below decides.
    uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      if ((word & kWaiting) != 0) return false;
      // Release: what the notifier did is for whoever takes the permit, also
      // if there was one already.
    } while (!word_.compare_exchange_strong(word, word | kPermit,
                                            std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return true;
  }

  // Takes the permit if there is one.
  bool TryTakePermit() {
    // Relaxed: as above.
    uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      if ((word & kPermit) == 0) return false;
      // Acquire: pairs with the release in TryLeavePermit.
    } while (!word_.compare_exchange_strong(word, word & ~kPermit,
                                            std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return true;
  }

  // With the lock held: the caller joins the queue, unless it has just got a
  // permit or all have been notified since Rounds() gave `rounds`.
  Begun BeginWait(uint64_t rounds) {
    uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      if (word / kRound != rounds) return Begun::kAllWereNotified;
      const bool has_permit = (word & kPermit) != 0;
      // Acquire: as in TryTakePermit.
      if (word_.compare_exchange_strong(
              word, has_permit ? word & ~kPermit : word | kWaiting,
              std::memory_order_acq_rel, std::memory_order_acquire)) {
        return has_permit ? Begun::kHasPermit : Begun::kWaits;
      }
    }
  }
  // With the lock held: the queue is empty.
  void EndWaits() {
    // Release: what the lock has ordered stays in order for those without it.
    word_.fetch_and(~kWaiting, std::memory_order_acq_rel);
  }

  // With the lock held: all that exist are notified.
  void BeginRound() {
    // Release: pairs with the acquire in Rounds.
    word_.fetch_add(kRound, std::memory_order_acq_rel);
  }
  uint64_t Rounds() const {
    // Acquire: what was done before the round that this sees.
    return word_.load(std::memory_order_acquire) / kRound;
  }

 private:
  static constexpr uint64_t kPermit = 1;
  static constexpr uint64_t kWaiting = 2;
  static constexpr uint64_t kRound = 4;

  typename Atomics::template Atomic<uint64_t> word_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_NOTIFY_WORD_H_
