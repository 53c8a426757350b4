// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RunQueue: a bounded FIFO ring with one owner, from which anybody may steal.
// Internal to the executor.
//
// State: `head_` and `tail_` count items ever taken and ever pushed; item i
// lies in slot i mod capacity. The owner alone moves tail_; whoever takes items
// moves head_ by a compare-and-swap, after it has read them. Both are 64 bits
// wide, so a count never comes back and the swap has no ABA.
//
//   [head_, tail_)   items; a slot outside may be overwritten by the owner
//   tail_ - head_ <= capacity
//
// A thief that read its slots while the owner reused them finds head_ moved and
// forgets what it read; that is why the slots are atomic.
//
// Thread safety: Push and Pop by the owner; the rest from any thread. The
// owner may change if the old one's last operation happens before the new one's
// first. Lifetime: items left inside are forgotten. Source: the run queues of
// Go's scheduler (runtime/proc.go).
#ifndef WEFT_EXECUTOR_RUN_QUEUE_H_
#define WEFT_EXECUTOR_RUN_QUEUE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::executor_internal {

// T is trivially copyable. `Atomics` lets a model checker run this code.
template <class T, uint32_t capacity = 256,
          class Atomics = task_internal::StdAtomics>
class RunQueue {
 public:
  static_assert((capacity & (capacity - 1)) == 0, "a power of two");
  static constexpr uint32_t kCapacity = capacity;
  // The most that one Steal takes.
  static constexpr uint32_t kMaxSteal = capacity / 2;

  RunQueue() : head_(0), tail_(0) {}
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Owner. Appends `item`; false if the ring is full.
  bool Push(T item) { return PushMany(&item, 1) == 1; }
  // The same for an item that no sleeper must be told of: Size() may miss it.
  bool PushQuietly(T item) {
    return Append(&item, 1, std::memory_order_release) == 1;
  }

  // Owner. Appends the first of `count` items and returns how many fitted.
  uint32_t PushMany(const T* items, uint32_t count) {
    // Release for the slots; sequentially consistent for the idle protocol:
    // the pusher goes on to look for sleepers (idle_set.h).
    return Append(items, count, std::memory_order_seq_cst);
  }

  // Owner. Takes the oldest item; false if there is none, and then leaves
  // anything in `item`.
  bool Pop(T& item) {
    // Relaxed: tail_ is the owner's own; a stale head_ fails the exchange.
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    uint64_t head = head_.load(std::memory_order_relaxed);
    while (head != tail) {
      // Relaxed: the owner wrote the slot itself.
      item = SlotOf(head).load(std::memory_order_relaxed);
      // Acquire-release: keeps the release sequence of the thieves' exchanges
      // that PushMany acquires; nothing else is passed on.
      if (head_.compare_exchange_strong(head, head + 1,
                                        std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Owner. What Pop() would give next, or anything where there is nothing: an
  // address to prefetch.
  T PeekNext() {
    // Relaxed, both: a hint.
    return SlotOf(head_.load(std::memory_order_relaxed))
        .load(std::memory_order_relaxed);
  }

  // Takes the older half of what is there, rounded up, but at most `max` items;
  // writes them to `out` and returns how many. What lies in `out` beyond these
  // may have been overwritten.
  uint32_t Steal(T* out, uint32_t max) {
    // Acquire: tail_, loaded next, is then not older than this.
    uint64_t head = head_.load(std::memory_order_acquire);
    for (;;) {
      // Acquire: the slots that the owner filled.
      const uint64_t tail = tail_.load(std::memory_order_acquire);
      const uint64_t size = tail - head;
      if (size == 0) return 0;
      if (size > capacity) {  // head has moved on meanwhile
        head = head_.load(std::memory_order_acquire);
        continue;
      }
      const uint32_t count =
          std::min(static_cast<uint32_t>(size - size / 2), max);
      for (uint32_t i = 0; i < count; ++i) {
        // Relaxed: valid only if head_ has not moved, which the exchange shows.
        out[i] = SlotOf(head + i).load(std::memory_order_relaxed);
      }
      // Release: the reads above come before the owner's reuse of the slots.
      if (head_.compare_exchange_strong(head, head + count,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return count;
      }
    }
  }

  // How many items there are. Sequentially consistent: an item whose Push
  // comes before this in that order is counted, unless it has been taken.
  uint32_t Size() const {
    // Acquire: tail_, loaded next, is then not older than this.
    const uint64_t head = head_.load(std::memory_order_acquire);
    const uint64_t size = tail_.load(std::memory_order_seq_cst) - head;
    return static_cast<uint32_t>(std::min<uint64_t>(size, capacity));
  }
  bool IsEmpty() const { return Size() == 0; }

  // Positions, which only grow: of the next item to be taken and of the next to
  // be pushed. For the owner, to know when an item's turn has come.
  uint64_t head() const {
    // Relaxed: a hint; an older value only delays.
    return head_.load(std::memory_order_relaxed);
  }
  uint64_t tail() const {
    // Relaxed: the owner's own.
    return tail_.load(std::memory_order_relaxed);
  }

 private:
  template <class U>
  using Atomic = typename Atomics::template Atomic<U>;

  uint32_t Append(const T* items, uint32_t count, std::memory_order publish) {
    // Relaxed: only the owner writes it.
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    // Acquire: the thief that moved head_ has read its slots; only then may
    // they be overwritten.
    const uint64_t head = head_.load(std::memory_order_acquire);
    const uint32_t room = capacity - static_cast<uint32_t>(tail - head);
    count = std::min(count, room);
    for (uint32_t i = 0; i < count; ++i) {
      // Relaxed: published by tail_.
      SlotOf(tail + i).store(items[i], std::memory_order_relaxed);
    }
    if (count != 0) tail_.store(tail + count, publish);
    return count;
  }

  Atomic<T>& SlotOf(uint64_t position) {
    return slots_[position & (capacity - 1)];
  }

  // Thieves write the first line, the owner the second; the slots are apart.
  alignas(64) Atomic<uint64_t> head_;
  alignas(64) Atomic<uint64_t> tail_;
  alignas(64) Atomic<T> slots_[capacity];
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_RUN_QUEUE_H_
