// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PriorityHeap: messages in the order in which they are received, from both ends.
// Internal to priority channels.
//
// The greatest rank is first; among equals, what came first. It is a heap in an
// array whose levels alternate: an entry on an even level (the root's is 0) is before
// all that are below it, one on an odd level after all. So the root is the first of
// all, and one of its children the last. (Source: Atkinson, Sack, Santoro and
// Strothotte, "Min-max heaps and generalized priority queues", 1986.)
//
// It is guarded by its owner's lock, and allocates nothing while that is held.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SYNC_PRIORITY_HEAP_H_
#define WEFT_SYNC_PRIORITY_HEAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "weft/sync/priority_message.h"

namespace weft::sync_internal {

class PriorityHeap {
 public:
  struct Entry {
    uint64_t rank;
    uint64_t sequence;  // how many came before
    PriorityMessage* message;
  };

  size_t size() const { return entries_.size(); }

  bool HasRoom() const { return entries_.size() < entries_.capacity(); }
  // Makes room, and meanwhile releases `lock`, so what it guards may change. `spare`
  // takes what is not needed any more; it goes after the lock.
  template <class Mutex>
  void Grow(std::unique_lock<Mutex>& lock, std::vector<Entry>& spare) {
    const size_t wanted = std::max<size_t>(16, 2 * entries_.capacity());
    lock.unlock();
    spare = std::vector<Entry>();
    spare.reserve(wanted);
    lock.lock();
    if (spare.capacity() <= entries_.capacity()) return;
    spare.assign(entries_.begin(), entries_.end());
    entries_.swap(spare);
  }

  // Requires: HasRoom().
  void Push(PriorityMessage& message);
  // Requires: not empty.
  PriorityMessage& PopFirst() { return PopAt(0); }
  PriorityMessage& PopLast() { return PopAt(Last()); }
  // Whether one of `rank` that came now would be after all others.
  bool WouldBeLast(uint64_t rank) const {
    return size() == 0 || entries_[Last()].rank >= rank;
  }

 private:
  // Where the last one is. Requires: not empty.
  size_t Last() const;
  PriorityMessage& PopAt(size_t i);
  void SiftUp(size_t i);
  void SiftDown(size_t i);

  std::vector<Entry> entries_;
  uint64_t sequence_ = 0;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_PRIORITY_HEAP_H_
