// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The state of a oneshot channel without its value. Internal; sync/oneshot.h is
// the channel.
//
// One word of five bits, each set once and never cleared:
//
//   kSent           The value is in place and the receiver's. Set by the sender,
//                   and only while kReceiverGone is clear.
//   kSenderGone     The sender is gone without having sent.
//   kReceiverGone   The receiver will take nothing that is not sent yet.
//   kReceiverWaits  The receiver has left a waker; or the sender's side has,
//   kSenderWaits    for kReceiverGone.
//
// All set their bits by read-modify-writes, so one comes first: with kSent first
// the value is the receiver's, also if it closes later; with kReceiverGone first
// the sender keeps it. Each side leaves its waker, sets its waiting bit, and finds
// in the word that this replaced whether what it waits for had come before; if not,
// the other side sees the bit in the word that it replaces, and wakes. So where
// nobody had to wait no waker is looked for.
//
// Thread safety: one sending and one receiving thread at a time.
#ifndef WEFT_SYNC_ONESHOT_CORE_H_
#define WEFT_SYNC_ONESHOT_CORE_H_

#include <atomic>
#include <cstdint>

#include "weft/task/atomic_waker.h"
#include "weft/task/task_state.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

// `Atomics` and `W` let a model checker run this code.
template <class Atomics = task_internal::StdAtomics, class W = Waker>
class BasicOneshotCore {
 public:
  enum class Received { kNothingYet, kValue, kClosed };

  BasicOneshotCore() : word_(0) {}
  BasicOneshotCore(const BasicOneshotCore&) = delete;
  BasicOneshotCore& operator=(const BasicOneshotCore&) = delete;

  // --- The sender's side.

  // The value is in place. False if it stays the sender's.
  bool Send() {
    // Relaxed: the exchange below decides.
    uint32_t word = word_.load(std::memory_order_relaxed);
    do {
      if ((word & kReceiverGone) != 0) return false;
      // Release: publishes the value.
    } while (!word_.compare_exchange_strong(word, word | kSent,
                                            std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    if ((word & kReceiverWaits) != 0) receiver_waker_.Wake();
    return true;
  }
  // Of one that has not sent.
  void DropSender() {
    // Release: what the sender did happens before the receiver learns of it.
    const uint32_t word =
        word_.fetch_or(kSenderGone, std::memory_order_acq_rel);
    if ((word & kReceiverGone) == 0 && (word & kReceiverWaits) != 0) {
      receiver_waker_.Wake();
    }
  }
  bool IsClosed() const {
    // Acquire: pairs with the release in Close.
    return (word_.load(std::memory_order_acquire) & kReceiverGone) != 0;
  }
  bool PollClosed(const W& waker) {
    if (IsClosed()) return true;
    sender_waker_.Register(waker);
    // Acquire-release: the waker is there for who sees the bit, and what happened
    // before kReceiverGone for this.
    return (word_.fetch_or(kSenderWaits, std::memory_order_acq_rel) &
            kReceiverGone) != 0;
  }
  void ForgetClosedWaker() { Forget(sender_waker_, kSenderWaits); }

  // --- The receiver's side.

  Received TryReceive() const {
    // Acquire: pairs with the releases of the sender's side.
    return ReceivedBy(word_.load(std::memory_order_acquire));
  }
  Received PollReceive(const W& waker) {
    const Received received = TryReceive();
    if (received != Received::kNothingYet) return received;
    receiver_waker_.Register(waker);
    // Acquire-release: as in PollClosed().
    return ReceivedBy(
        word_.fetch_or(kReceiverWaits, std::memory_order_acq_rel));
  }
  void Close() {
    // Acquire: a value that was sent may be taken now. Release: as DropSender.
    const uint32_t word =
        word_.fetch_or(kReceiverGone, std::memory_order_acq_rel);
    if ((word & kReceiverGone) == 0 && (word & kSenderWaits) != 0) {
      sender_waker_.Wake();
    }
  }
  void ForgetReceiverWaker() { Forget(receiver_waker_, kReceiverWaits); }

 private:
  static constexpr uint32_t kSent = 1;
  static constexpr uint32_t kSenderGone = 2;
  static constexpr uint32_t kReceiverGone = 4;
  static constexpr uint32_t kReceiverWaits = 8;
  static constexpr uint32_t kSenderWaits = 16;

  static Received ReceivedBy(uint32_t word) {
    if ((word & kSent) != 0) return Received::kValue;
    return (word & (kSenderGone | kReceiverGone)) != 0 ? Received::kClosed
                                                       : Received::kNothingYet;
  }
  // Relaxed: the bit is the caller's own.
  void Forget(BasicAtomicWaker<Atomics, W>& waker, uint32_t waits) {
    if ((word_.load(std::memory_order_relaxed) & waits) != 0) {
      static_cast<void>(waker.Take());
    }
  }

  typename Atomics::template Atomic<uint32_t> word_;
  BasicAtomicWaker<Atomics, W> sender_waker_;
  BasicAtomicWaker<Atomics, W> receiver_waker_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_ONESHOT_CORE_H_
