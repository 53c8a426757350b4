// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalInbox: what other threads send to the home thread of a LocalExecutor.
// Internal.
//
// One word says everything: closed, or asleep (its owner is, and the inbox is
// empty), or the newest of the letters, linked to the older ones; null: awake
// and empty. Every change of it is a read-modify-write, so of the owner that
// falls asleep and the sender one sees the other: a letter either keeps the
// owner awake, or finds the mark and replaces it, and then that sender alone
// unparks the owner. The memory of letters is taken where they are sent and
// given back where they are read; the frame cache carries it back in bulk.
//
// Thread safety: Send from any thread, the rest by the owner.
// Lifetime: a late sender may find it closed, or opened again.
#ifndef WEFT_EXECUTOR_LOCAL_INBOX_H_
#define WEFT_EXECUTOR_LOCAL_INBOX_H_

#include <atomic>
#include <cstdint>
#include <new>

#include "weft/task/frame_cache.h"
#include "weft/task/task_state.h"

namespace weft::executor_internal {

template <class Atomics = task_internal::StdAtomics>
class BasicLocalInbox {
 public:
  enum class Sent {
    kQuietly,  // the owner will see it
    kUnpark,   // the owner sleeps: the caller unparks it
    kClosed,   // not sent; the item is still the caller's
  };

  // Not inlined: the home thread's code stays free of it.
  [[gnu::noinline]] Sent Send(void* item) {
    auto* letter = new (task_internal::AllocateFrame(sizeof(Letter))) Letter;
    letter->item = item;
    // Acquire: whoever finds it closed sees what the owner had done by then.
    uintptr_t head = head_.load(std::memory_order_acquire);
    do {
      if (head == kClosed) {
        Free(letter);
        return Sent::kClosed;
      }
      letter->next = head == kAsleep ? kEmpty : head;
      // Release: publishes the letter. Acquire: as above.
    } while (!head_.compare_exchange_strong(
        head, reinterpret_cast<uintptr_t>(letter), std::memory_order_acq_rel,
        std::memory_order_acquire));
    return head == kAsleep ? Sent::kUnpark : Sent::kQuietly;
  }

  // ---- The owner ----

  // Relaxed: a hint; TakeAll acquires.
  bool HasLetters() const {
    return head_.load(std::memory_order_relaxed) > kLastMark;
  }

  // Calls `read` with each item, in the order in which they were sent.
  template <class Read>
  [[gnu::noinline]] void TakeAll(Read read) {
    // Acquire: what is in the letters, and what led to them.
    Letter* letter = Reverse(head_.exchange(kEmpty, std::memory_order_acquire));
    while (letter != nullptr) {
      void* item = letter->item;
      auto* next = reinterpret_cast<Letter*>(uintptr_t{letter->next});
      Free(letter);
      letter = next;
      read(item);
    }
  }

  // Leaves the mark; false if there are letters.
  bool FallAsleep() { return Change(kEmpty, kAsleep); }
  void WakeUp() { Change(kAsleep, kEmpty); }

  // False if there are letters.
  bool Close() { return Change(kAsleep, kClosed) || Change(kEmpty, kClosed); }
  bool IsClosed() const {
    // Acquire: any thread may ask, and then destroy the owner.
    return head_.load(std::memory_order_acquire) == kClosed;
  }
  // Requires: closed. Release: pairs with a late sender's acquire.
  void Open() { head_.store(kEmpty, std::memory_order_release); }

 private:
  static constexpr uintptr_t kEmpty = 0;
  static constexpr uintptr_t kAsleep = 1;
  static constexpr uintptr_t kClosed = 2;
  static constexpr uintptr_t kLastMark = kClosed;

  struct Letter {
    typename Atomics::template Plain<void*> item;
    typename Atomics::template Plain<uintptr_t> next;
  };

  static void Free(Letter* letter) {
    letter->~Letter();
    task_internal::FreeFrame(letter, sizeof(Letter));
  }

  static Letter* Reverse(uintptr_t head) {
    uintptr_t reversed = kEmpty;
    while (head > kLastMark) {
      auto* letter = reinterpret_cast<Letter*>(head);
      const uintptr_t older = letter->next;
      letter->next = reversed;
      reversed = head;
      head = older;
    }
    return reinterpret_cast<Letter*>(reversed);
  }

  // True if it is `to` now. Acquire-release: closing publishes; for the rest
  // the order of the changes is enough.
  bool Change(uintptr_t from, uintptr_t to) {
    uintptr_t head = from;
    return head_.compare_exchange_strong(head, to, std::memory_order_acq_rel,
                                         std::memory_order_relaxed) ||
           head == to;
  }

  typename Atomics::template Atomic<uintptr_t> head_ = kClosed;
};

using LocalInbox = BasicLocalInbox<>;

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_LOCAL_INBOX_H_
