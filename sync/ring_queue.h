// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RingQueue: a bounded queue with any number of senders and receivers, whose two
// words also say whether anybody sleeps. Internal to channels.
//
// Each slot has a turn that tells whose it is. Place p lies in slot p mod slots, in
// lap p - p mod slots, which is 0 at first;
//
//   turn == 2 lap      free: of the sender that claims the slot's place in that lap
//   turn == 2 lap + 1  full: of the receiver that does
//
// A sender claims a place by moving `tail_`, moves its value in and sets the turn;
// a receiver claims it by moving `head_`, moves the value out and sets the turn of
// the place that comes to lie there next. So no user's code runs under a lock, and
// an operation costs one read-modify-write. (Source: Dmitry Vyukov's bounded MPMC
// queue.)
//
// The words:
//
//   tail_   kClosed         no place is claimed any more; never cleared
//           kReceiversWait  somebody sleeps until a place is claimed
//           reserved        16 bits: places promised to permits
//           place           45 bits: of the next sender
//   head_   kSendersWait    somebody sleeps until a place is freed
//           place           45 bits, at the same position: of the next receiver
//
// Places count modulo 2^45: a thread would have to stop for days, while others go
// through exactly that many, to be misled.
//
// Sleeping. Who wants to sleep sets its bit in the word that the other side must
// move, and reads that word in the same step. If it says that there is nothing to
// do, whoever moves it later sees the bit, and wakes. Else there is something, or
// will be in a moment: a place that was claimed has not got its turn yet (kBusy).
// So neither side needs a fence. The bits are set and cleared under the lock that
// guards the list of sleepers; see channel_core.h.
//
// Thread safety: all methods from any thread.
// Lifetime: what is still inside is destroyed with it.
#ifndef WEFT_SYNC_RING_QUEUE_H_
#define WEFT_SYNC_RING_QUEUE_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "weft/sync/queue_step.h"
#include "weft/sync/slot_table.h"
#include "weft/task/task_state.h"

namespace weft::sync_internal {

template <class T, class Atomics = task_internal::StdAtomics>
class RingQueue {
 public:
  static constexpr size_t kMaxCapacity = size_t{1} << 40;

  // Requires: 0 < capacity <= kMaxCapacity.
  explicit RingQueue(size_t capacity)
      : capacity_(capacity),
        mask_(std::bit_ceil(capacity) - 1),
        slots_(mask_ + 1) {}
  RingQueue(const RingQueue&) = delete;
  RingQueue& operator=(const RingQueue&) = delete;
  ~RingQueue() {
    std::optional<T> value;
    const auto take = [&](T&& item) { value.emplace(std::move(item)); };
    while (Pop(take).result == QueueResult::kDone) value.reset();
  }

  size_t capacity() const { return capacity_; }

  // Moves `value` in if kDone, and leaves it alone else.
  QueueStep Push(T& value) { return Claim(value, /*reserved=*/0); }
  // The same for a place that was reserved. Never kNotNow.
  QueueStep PushReserved(T& value) { return Claim(value, kOneReserved); }

  // Promises a place to who will call PushReserved or GiveBack.
  QueueResult Reserve() {
    uint64_t tail = tail_.load(std::memory_order_acquire);
    for (;;) {
      if ((tail & kClosed) != 0) return QueueResult::kClosed;
      if ((tail & kReservedMask) == kReservedMask || !HasRoom(tail)) {
        if (!Reload(tail_, tail)) return QueueResult::kNotNow;
        continue;
      }
      // Acquire-release: as in Claim.
      if (tail_.compare_exchange_strong(tail, tail + kOneReserved,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return QueueResult::kDone;
      }
    }
  }
  // True if a sleeping sender has to be woken.
  bool GiveBack() {
    // Release: what the permit's owner did, for who gets the place.
    tail_.fetch_sub(kOneReserved, std::memory_order_acq_rel);
    // A read-modify-write, so that it comes before or after a sender's in
    // SendersMaySleep: before, and that one sees the place; or after, and this one
    // sees the bit.
    return (head_.fetch_or(0, std::memory_order_acq_rel) & kSendersWait) != 0;
  }

  // Whether permits have all places: nothing can be taken out to make room.
  bool IsReserved() const {
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    return (tail & kReservedMask) >> kReservedShift >= capacity_;
  }

  // Calls take(T&&) with a value, which it moves from without throwing, if kDone.
  template <class Take>
  QueueStep Pop(Take take) {
    size_t count = 1;
    return PopSome(count, take);
  }

  // Takes as many of the first `count` as there are, with one claim; calls
  // take(T&&) for each and sets `count` to how many. take() must not throw.
  // Requires: count > 0.
  template <class Take>
  QueueStep PopSome(size_t& count, Take take) {
    // Acquire: as in Claim.
    uint64_t head = head_.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t place = PlaceOf(head);
      Slot* const first = FindFull(place);
      if (first == nullptr) {
        if (Reload(head_, head)) continue;
        count = 0;
        return {WhyNone(head)};
      }
      const size_t ready = 1 + CountFull(place + 1, count - 1);
      // Acquire-release: as in Claim.
      if (!head_.compare_exchange_strong(
              head, (head & kFlags) | ToWord(place + ready),
              std::memory_order_acq_rel, std::memory_order_acquire)) {
        continue;
      }
      for (size_t i = 0; i < ready; ++i) {
        Slot& slot = i == 0 ? *first : *FindSlot(place + i);
        take(std::move(slot.value()));
        slot.value().~T();
        // Release: the slot is empty, for the sender that gets it.
        slot.turn.store(FreeTurn(place + i + mask_ + 1),
                        std::memory_order_release);
      }
      count = ready;
      return {QueueResult::kDone, (head & kSendersWait) != 0};
    }
  }

  // True if this call has closed it. What was claimed before can be received.
  bool Close() {
    // Release: what happened before, for whoever sees that it is closed.
    return (tail_.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) == 0;
  }
  bool IsClosed() const {
    return (tail_.load(std::memory_order_acquire) & kClosed) != 0;
  }

  // The rest of the sleeping: under the lock of the list of sleepers.
  //
  // True if a receiver may sleep: there is nothing, and who claims a place wakes.
  bool ReceiversMaySleep() {
    const uint64_t tail =
        tail_.fetch_or(kReceiversWait, std::memory_order_acq_rel);
    // An old value of head_ says that there is something, which is no harm.
    const uint64_t head = head_.load(std::memory_order_acquire);
    return PlaceOf(tail) == PlaceOf(head) && (tail & kClosed) == 0;
  }
  // True if a sender may sleep: there is no room, and who makes some wakes.
  bool SendersMaySleep() {
    const uint64_t head =
        head_.fetch_or(kSendersWait, std::memory_order_acq_rel);
    // An old value of tail_ says that there is room, which is no harm.
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    return (tail & kClosed) == 0 &&
           ((tail & kReservedMask) == kReservedMask ||
            UsedPlaces(tail, PlaceOf(head)) >= capacity_);
  }
  bool SendersMayWait() const {
    return (head_.load(std::memory_order_acquire) & kSendersWait) != 0;
  }
  void NoReceiverWaits() {
    // Relaxed: says nothing about anything else; the lock orders the bits.
    tail_.fetch_and(~kReceiversWait, std::memory_order_relaxed);
  }
  void NoSenderWaits() {
    // Relaxed: as above.
    head_.fetch_and(~kSendersWait, std::memory_order_relaxed);
  }

  // A moment's number of values.
  size_t Size() const {
    // The head first: then it is not beyond the tail.
    const uint64_t head = head_.load(std::memory_order_acquire);
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    const uint64_t size = (PlaceOf(tail) - PlaceOf(head)) & kPlaceMask;
    return size < capacity_ ? size : capacity_;
  }
  bool IsFull() const {
    const uint64_t head = head_.load(std::memory_order_acquire);
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    return UsedPlaces(tail, PlaceOf(head)) >= capacity_;
  }

 private:
  struct Slot {
    T& value() { return *std::launder(reinterpret_cast<T*>(memory)); }

    typename Atomics::template Atomic<uint64_t> turn{0};
    alignas(T) unsigned char memory[sizeof(T)];
  };

  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kReceiversWait = 2;
  static constexpr uint64_t kSendersWait = 1;
  static constexpr uint64_t kFlags = 3;
  static constexpr int kReservedShift = 3;
  static constexpr int kPlaceShift = 19;
  static constexpr uint64_t kOneReserved = uint64_t{1} << kReservedShift;
  static constexpr uint64_t kReservedMask = uint64_t{0xffff} << kReservedShift;
  static constexpr uint64_t kPlaceMask = ~uint64_t{0} >> kPlaceShift;

  static uint64_t PlaceOf(uint64_t word) { return word >> kPlaceShift; }
  static uint64_t ToWord(uint64_t place) { return place << kPlaceShift; }
  uint64_t FreeTurn(uint64_t place) const {
    return (place & kPlaceMask & ~mask_) * 2;
  }
  uint64_t FullTurn(uint64_t place) const { return FreeTurn(place) + 1; }

  // Replaces an old value of a word that has changed meanwhile; false if it has not.
  template <class Word>
  static bool Reload(const Word& word, uint64_t& value) {
    const uint64_t old = value;
    value = word.load(std::memory_order_acquire);
    return value != old;
  }

  // Null if no sender has come so far.
  Slot* FindSlot(uint64_t place) { return slots_.Find(place & mask_); }

  // Claims the next place and moves `value` there; takes `reserved` back.
  QueueStep Claim(T& value, uint64_t reserved) {
    // Acquire: whoever sees a word sees what was done before it got so.
    uint64_t tail = tail_.load(std::memory_order_acquire);
    for (;;) {
      if ((tail & kClosed) != 0) return {QueueResult::kClosed};
      const uint64_t place = PlaceOf(tail);
      // Before the place is claimed, as memory may run out.
      Slot& slot = slots_.FindOrMake(place & mask_);
      // Acquire: the slot was emptied.
      const bool is_free =
          slot.turn.load(std::memory_order_acquire) == FreeTurn(place);
      // Where every slot is a place, a free one says that there is room, but for
      // those that are reserved.
      const bool is_sure = reserved != 0 || ((tail & kReservedMask) == 0 &&
                                             capacity_ == mask_ + 1);
      if (!is_free || (!is_sure && !HasRoom(tail))) {
        if (Reload(tail_, tail)) continue;
        const bool has_room = reserved != 0 || HasRoom(tail);
        return {has_room ? QueueResult::kBusy : QueueResult::kNotNow};
      }
      // Acquire-release: a sleeper that sees that the place is claimed sees what
      // its sender did before; and the other way round for the bits.
      if (!tail_.compare_exchange_strong(tail, tail - reserved + ToWord(1),
                                         std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      ::new (slot.memory) T(std::move(value));
      // Release: publishes the value.
      slot.turn.store(FullTurn(place), std::memory_order_release);
      return {QueueResult::kDone, (tail & kReceiversWait) != 0};
    }
  }

  // The slot of `place`, if it is full; else null.
  Slot* FindFull(uint64_t place) {
    Slot* const slot = FindSlot(place);
    // Acquire: the value.
    return slot != nullptr &&
                   slot->turn.load(std::memory_order_acquire) == FullTurn(place)
               ? slot
               : nullptr;
  }
  // How many of the `count` slots from `place` on are full.
  size_t CountFull(uint64_t place, size_t count) {
    size_t full = 0;
    while (full < count && FindFull(place + full) != nullptr) ++full;
    return full;
  }

  QueueResult WhyNone(uint64_t head) const {
    // Acquire: what was done before it was closed.
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    if (PlaceOf(tail) != PlaceOf(head)) return QueueResult::kBusy;
    return (tail & kClosed) != 0 ? QueueResult::kClosed : QueueResult::kNotNow;
  }

  uint64_t UsedPlaces(uint64_t tail, uint64_t head_place) const {
    return ((PlaceOf(tail) - head_place) & kPlaceMask) +
           ((tail & kReservedMask) >> kReservedShift);
  }
  bool HasRoom(uint64_t tail) const {
    // Places are freed only, so an old head is on the safe side.
    const uint64_t head = head_.load(std::memory_order_acquire);
    return UsedPlaces(tail, PlaceOf(head)) < capacity_;
  }

  using Word = typename Atomics::template Atomic<uint64_t>;
  static constexpr size_t kCacheLine = 64;

  // What senders write, what receivers write, and what nobody does, in different
  // cache lines wherever the whole comes to lie.
  Word tail_{0};
  [[maybe_unused]] char gap_[kCacheLine - sizeof(uint64_t)];
  Word head_{0};
  [[maybe_unused]] char second_gap_[kCacheLine - sizeof(uint64_t)];
  const size_t capacity_;
  const size_t mask_;
  SlotTable<Slot, Atomics> slots_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_RING_QUEUE_H_
