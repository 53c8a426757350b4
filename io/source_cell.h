// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SourceCell: the memory behind one Source: descriptor, readiness, waiters.
// Internal; see io/source.h and docs/design/reactor.md.
//
// Cells come from a table that only grows: a cell is never given back to the
// allocator, and its index names it for ever. A reactor registers {index,
// generation} with the kernel, so an event that comes late, for a descriptor
// that is gone, finds valid memory and another generation, and is dropped.
//
// Who may touch what:
//   readiness, use, references, core   atomics; any thread.
//   fd, restore_blocking               constant while the cell has references;
//                                      fd is open while a use is held.
//   slots, waiters                     under `mutex`.
//   registered, previous, next         under the core's mutex.
//   next_free                          under the table's mutex.
// Lock order: a cell's mutex, then a core's. The table's is taken alone.
#ifndef WEFT_IO_SOURCE_CELL_H_
#define WEFT_IO_SOURCE_CELL_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "weft/io/descriptor_use.h"
#include "weft/io/readiness.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::io::io_internal {

class ReactorCore;

// One of any number of waits of one direction; a node of its cell's list.
struct WaitNode {
  explicit WaitNode(Direction direction) : direction(direction) {}

  const Direction direction;
  WaitNode* previous = nullptr;  // null: not in a list
  WaitNode* next = nullptr;
  Waker waker;
};

// A circular list with its own node as sentinel.
class WaitQueue {
 public:
  WaitQueue() : head_(Direction::kRead) {
    head_.previous = head_.next = &head_;
  }
  WaitQueue(const WaitQueue&) = delete;  // its nodes hold its address
  WaitQueue& operator=(const WaitQueue&) = delete;

  bool IsEmpty() const { return head_.next == &head_; }
  void PushBack(WaitNode& node);
  static void Remove(WaitNode& node);  // no effect if it is in no list
  // Moves the nodes of the directions that `bits` makes ready to `to`.
  void MoveReady(uint32_t bits, WaitQueue& to);
  // Requires: !IsEmpty().
  WaitNode& PopFront();

 private:
  WaitNode head_;
};

struct SourceCell {
  uint64_t token() const {
    return uint64_t{readiness.Load().generation()} << 32 | index;
  }
  void Ref() {
    // Relaxed: a new reference is made from an existing one.
    references.fetch_add(1, std::memory_order_relaxed);
  }
  // The last one makes the cell available again. Requires then: the descriptor
  // is closed or given away.
  void Unref();

  // Sets `bits` and wakes whom they make ready; false, without effect, if the
  // cell no longer has `generation`. The wakers go through `wakers`, which is
  // flushed with no lock held whenever it is full; the caller flushes the rest.
  bool Deliver(uint32_t generation, uint32_t bits, WakeList& wakers);

  Readiness readiness;
  DescriptorUse use;
  std::atomic<uint32_t> references{0};
  uint32_t index = 0;
  int fd = -1;
  bool restore_blocking = false;  // clear O_NONBLOCK before letting go
  std::atomic<ReactorCore*> core{nullptr};

  std::mutex mutex;
  Waker slots[2];  // by Direction
  WaitQueue waiters;

  bool registered = false;
  SourceCell* previous = nullptr;
  SourceCell* next = nullptr;

  SourceCell* next_free = nullptr;
};

// A cell for `fd` with one reference, the caller's.
SourceCell* AllocateSourceCell(int fd, bool restore_blocking);

// The cell with that index. Requires: it has been allocated once.
SourceCell& SourceCellAt(uint32_t index);

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_SOURCE_CELL_H_
