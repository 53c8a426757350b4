// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BlockQueue: an unbounded queue with any number of senders and receivers; the
// counterpart of RingQueue (sync/ring_queue.h), whose words and rules for sleeping
// it has. Internal to channels.
//
// Values lie in blocks of 31, in a list. Place p lies in block p / 32; the place
// behind a block's last one stands for "the next block is being linked", and whoever
// claimed the last one moves the word on when that is done. Nothing is allocated
// before the first value is sent.
//
// A block is retired when its last place is claimed by a receiver, and freed when a
// later block is, if all its values have been taken by then. Who moves the word on
// does both, alone; so to take a value costs a store and no read-modify-write.
//
//   tail_   kClosed, kReceiversWait as in RingQueue; the rest is the place
//   head_   the place, at the same position
//
// An operation costs one read-modify-write, to claim a place. (After the list of
// blocks of Tokio's and crossbeam's channels, which have two.)
//
// Thread safety: all methods from any thread.
// Lifetime: what is still inside is destroyed with it.
#ifndef WEFT_SYNC_BLOCK_QUEUE_H_
#define WEFT_SYNC_BLOCK_QUEUE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "weft/sync/backoff.h"
#include "weft/sync/queue_step.h"
#include "weft/task/task_state.h"

namespace weft::sync_internal {

// kLap is the number of places of a block, with the one that has no slot.
template <class T, class Atomics = task_internal::StdAtomics,
          uint64_t kLap = 32>
class BlockQueue {
 public:
  BlockQueue() = default;
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;
  ~BlockQueue() {
    std::optional<T> value;
    const auto take = [&](T&& item) { value.emplace(std::move(item)); };
    while (Pop(take).result == QueueResult::kDone) value.reset();
    // Relaxed: nobody else is left.
    delete head_block_.load(std::memory_order_relaxed);
    while (retired_ != nullptr) {
      delete std::exchange(retired_, retired_->older);
    }
  }

  // Moves `value` in, unless closed.
  QueueStep Push(T& value) {
    std::unique_ptr<Block> next;
    Backoff<Atomics> backoff;
    // Acquire: with the word comes its block.
    uint64_t tail = tail_.load(std::memory_order_acquire);
    for (;;) {
      if ((tail & kClosed) != 0) return {QueueResult::kClosed};
      const uint64_t offset = PlaceOf(tail) % kLap;
      Block* const block = tail_block_.load(std::memory_order_acquire);
      if (offset == kSlots) {  // being linked
        backoff.Wait();
        tail = tail_.load(std::memory_order_acquire);
        continue;
      }
      if (block == nullptr) {
        InstallFirst();
        continue;
      }
      // Before the place is claimed, as memory may run out.
      if (offset + 1 == kSlots && next == nullptr) next.reset(new Block);
      // Acquire-release: a sleeper that sees that the place is claimed sees what
      // its sender did before; and the other way round for the bits.
      if (!tail_.compare_exchange_strong(tail, tail + kOnePlace,
                                         std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      if (offset + 1 == kSlots) LinkNext(*block, next.release());
      Slot& slot = block->slots[offset];
      ::new (slot.memory) T(std::move(value));
      // Release: publishes the value.
      slot.state.store(kFull, std::memory_order_release);
      return {QueueResult::kDone, (tail & kReceiversWait) != 0};
    }
  }

  // Calls take(T&&) with a value, which it moves from without throwing, if kDone.
  // Waits for a sender that has claimed the place and is moving its value in.
  template <class Take>
  QueueStep Pop(Take take) {
    Backoff<Atomics> backoff;
    // Acquire: with the word comes its block.
    uint64_t head = head_.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t offset = PlaceOf(head) % kLap;
      if (offset == kSlots) {  // moves on to the next block
        backoff.Wait();
        head = head_.load(std::memory_order_acquire);
        continue;
      }
      if (IsEmpty(head)) {
        const uint64_t old = head;
        head = head_.load(std::memory_order_acquire);
        if (head != old) continue;
        return {WhyNone(head)};
      }
      // Acquire: pairs with who set it, before a place in it was claimed.
      Block* const block = head_block_.load(std::memory_order_acquire);
      // Null if that was claimed, but head_block_ is just being set.
      if (block == nullptr) {
        backoff.Wait();
        continue;
      }
      // Acquire-release: as in Push.
      if (!head_.compare_exchange_strong(head, head + kOnePlace,
                                         std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      if (offset + 1 == kSlots) MoveOn(*block);
      TakeFrom(*block, offset, take);
      return {QueueResult::kDone};
    }
  }

  // As RingQueue's, but with a claim for each value.
  template <class Take>
  QueueStep PopSome(size_t& count, Take take) {
    QueueResult result = QueueResult::kDone;
    size_t taken = 0;
    while (taken < count) {
      result = Pop(take).result;
      if (result != QueueResult::kDone) break;
      ++taken;
    }
    count = taken;
    return {taken > 0 ? QueueResult::kDone : result};
  }

  // As RingQueue's.
  bool Close() {
    // Release: what happened before, for whoever sees that it is closed.
    return (tail_.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) == 0;
  }
  bool IsClosed() const {
    return (tail_.load(std::memory_order_acquire) & kClosed) != 0;
  }
  bool ReceiversMaySleep() {
    // Acquire-release: as in Push.
    const uint64_t tail =
        tail_.fetch_or(kReceiversWait, std::memory_order_acq_rel);
    const uint64_t head = head_.load(std::memory_order_acquire);
    return CountOf(tail) == CountOf(head) && (tail & kClosed) == 0;
  }
  void NoReceiverWaits() {
    // Relaxed: says nothing about anything else; the lock orders the bits.
    tail_.fetch_and(~kReceiversWait, std::memory_order_relaxed);
  }

  // A moment's number of values.
  size_t Size() const {
    const uint64_t head = CountOf(head_.load(std::memory_order_acquire));
    const uint64_t tail = CountOf(tail_.load(std::memory_order_acquire));
    return static_cast<size_t>(tail - head);
  }

 private:
  static constexpr uint64_t kSlots = kLap - 1;
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kReceiversWait = 2;
  static constexpr int kPlaceShift = 2;
  static constexpr uint64_t kOnePlace = uint64_t{1} << kPlaceShift;

  enum SlotState : uint8_t { kEmpty, kFull, kTaken };

  struct Slot {
    T& value() { return *std::launder(reinterpret_cast<T*>(memory)); }

    typename Atomics::template Atomic<SlotState> state{kEmpty};
    alignas(T) unsigned char memory[sizeof(T)];
  };
  struct Block {
    typename Atomics::template Atomic<Block*> next{nullptr};
    Block* older = nullptr;  // the one that was retired before
    Slot slots[kSlots];
  };

  static uint64_t PlaceOf(uint64_t word) { return word >> kPlaceShift; }
  // How many values went through the places before this one.
  static uint64_t CountOf(uint64_t word) {
    const uint64_t place = PlaceOf(word);
    const uint64_t offset = place % kLap;
    return place / kLap * kSlots + (offset < kSlots ? offset : kSlots);
  }

  void InstallFirst() {
    auto first = std::make_unique_for_overwrite<Block>();
    Block* none = nullptr;
    // Release: publishes the block. Acquire: somebody else's.
    if (tail_block_.compare_exchange_strong(none, first.get(),
                                            std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
      head_block_.store(first.release(), std::memory_order_release);
    }
  }

  // By who claimed the last slot of `block`: nobody else gets past it meanwhile.
  void LinkNext(Block& block, Block* next) {
    // Release: who sees the word beyond the gap sees the block, too.
    tail_block_.store(next, std::memory_order_release);
    tail_.fetch_add(kOnePlace, std::memory_order_acq_rel);
    // Release: publishes the block.
    block.next.store(next, std::memory_order_release);
  }

  // The same for who took the last value.
  void MoveOn(Block& block) {
    Backoff<Atomics> backoff;
    Block* next;
    // Acquire: the block.
    while ((next = block.next.load(std::memory_order_acquire)) == nullptr) {
      backoff.Wait();
    }
    // Release: as in LinkNext.
    head_block_.store(next, std::memory_order_release);
    Retire(block);
    head_.fetch_add(kOnePlace, std::memory_order_acq_rel);
  }

  // By who moves on, with all the claims after it waiting: one at a time.
  void Retire(Block& block) {
    block.older = retired_;
    retired_ = &block;
    for (Block** link = &block.older; *link != nullptr;) {
      Block* const old = *link;
      if (IsTaken(*old)) {
        *link = old->older;
        delete old;
      } else {
        link = &old->older;
      }
    }
  }
  static bool IsTaken(const Block& block) {
    return std::ranges::all_of(block.slots, [](const Slot& slot) {
      // Acquire: who took the value is done with the block.
      return slot.state.load(std::memory_order_acquire) == kTaken;
    });
  }

  template <class Take>
  void TakeFrom(Block& block, uint64_t offset, Take take) {
    Slot& slot = block.slots[offset];
    Backoff<Atomics> backoff;
    // Acquire: the value.
    while (slot.state.load(std::memory_order_acquire) != kFull) backoff.Wait();
    take(std::move(slot.value()));
    slot.value().~T();
    // Release: the last use of the block, for who frees it.
    slot.state.store(kTaken, std::memory_order_release);
  }

  // Whether nothing lies at `head`, which is not a gap. A tail that was seen before
  // tells that something does, since the tail only grows.
  bool IsEmpty(uint64_t head) {
    // Relaxed: the claim that follows reads the word itself, and what was sent is
    // acquired with its slot.
    const uint64_t seen = tail_seen_.load(std::memory_order_relaxed);
    if (CountOf(head) < CountOf(seen)) return false;
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    tail_seen_.store(tail, std::memory_order_relaxed);
    return CountOf(tail) <= CountOf(head);
  }
  QueueResult WhyNone(uint64_t head) const {
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    if (CountOf(tail) > CountOf(head)) return QueueResult::kBusy;
    return (tail & kClosed) != 0 ? QueueResult::kClosed : QueueResult::kNotNow;
  }

  static constexpr size_t kCacheLine = 64;

  // What senders write, and what receivers do, in different cache lines wherever
  // the whole comes to lie; and other things that follow it, in another one.
  typename Atomics::template Atomic<uint64_t> tail_{0};
  typename Atomics::template Atomic<Block*> tail_block_{nullptr};
  [[maybe_unused]] char gap_[kCacheLine - 2 * sizeof(uint64_t)];
  typename Atomics::template Atomic<uint64_t> head_{0};
  typename Atomics::template Atomic<Block*> head_block_{nullptr};
  typename Atomics::template Atomic<uint64_t> tail_seen_{0};
  Block* retired_ = nullptr;  // the newest; of who moves `head_` on
  [[maybe_unused]] char second_gap_[kCacheLine - 4 * sizeof(uint64_t)];
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_BLOCK_QUEUE_H_
