// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SlotTable: an array of a fixed number of slots that takes memory as they are first
// used. Internal to channels: so an empty one is small, and one of a million places
// costs what is in it.
//
// Slots lie in chunks, each as large as all before it: chunk 0 has the slots below
// 32, chunk k those from 16 * 2^k on. A chunk is made by whoever needs it first and
// stays until the end.
//
// Thread safety: all methods from any thread.
#ifndef WEFT_SYNC_SLOT_TABLE_H_
#define WEFT_SYNC_SLOT_TABLE_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>

#include "weft/task/task_state.h"

namespace weft::sync_internal {

template <class Slot, class Atomics = task_internal::StdAtomics>
class SlotTable {
 public:
  // Requires: `size` is a power of two.
  explicit SlotTable(size_t size) : size_(size) {}
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable() {
    // Relaxed, all below: nobody else is left.
    delete[] first_.load(std::memory_order_relaxed);
    Chunk* const more = more_.load(std::memory_order_relaxed);
    if (more == nullptr) return;
    for (size_t i = 0; i < ChunksAfterTheFirst(); ++i) {
      delete[] more[i].load(std::memory_order_relaxed);
    }
    delete[] more;
  }

  size_t size() const { return size_; }

  // Null if nobody has made it.
  Slot* Find(size_t index) const {
    // Acquire: the slots' first state.
    if (index < kFirst) [[likely]] {
      Slot* const chunk = first_.load(std::memory_order_acquire);
      return chunk != nullptr ? chunk + index : nullptr;
    }
    const Chunk* const more = more_.load(std::memory_order_acquire);
    if (more == nullptr) return nullptr;
    Slot* const chunk = more[NumberOf(index)].load(std::memory_order_acquire);
    return chunk != nullptr ? chunk + (index - BeginOf(index)) : nullptr;
  }

  // Makes it, with its neighbours, value-initialized, if it is not there. May throw.
  Slot& FindOrMake(size_t index) {
    if (Slot* const slot = Find(index)) [[likely]]
      return *slot;
    return Make(index);
  }

 private:
  using Chunk = typename Atomics::template Atomic<Slot*>;

  static constexpr size_t kFirst = 32;

  // Of index >= kFirst: its chunk's number, counted without the first one, and where
  // that begins.
  static size_t NumberOf(size_t index) {
    return static_cast<size_t>(std::bit_width(index / kFirst)) - 1;
  }
  static size_t BeginOf(size_t index) { return std::bit_floor(index); }
  size_t ChunksAfterTheFirst() const {
    return size_ <= kFirst ? 0 : NumberOf(size_ - 1) + 1;
  }

  [[gnu::noinline]] Slot& Make(size_t index) {
    if (index < kFirst) {
      return Install(first_, size_ < kFirst ? size_ : kFirst)[index];
    }
    Chunk* const more = Install(more_, ChunksAfterTheFirst());
    const size_t begin = BeginOf(index);
    return Install(more[NumberOf(index)], begin)[index - begin];
  }

  // What `pointer` points to: an array of `count`, if it was null.
  template <class T>
  static T* Install(typename Atomics::template Atomic<T*>& pointer,
                    size_t count) {
    auto array = std::make_unique_for_overwrite<T[]>(count);
    T* there = nullptr;
    // Release: publishes it. Acquire: somebody else's.
    if (pointer.compare_exchange_strong(there, array.get(),
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      return array.release();
    }
    return there;
  }

  const size_t size_;
  Chunk first_{nullptr};
  typename Atomics::template Atomic<Chunk*> more_{nullptr};
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_SLOT_TABLE_H_
