// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Deliver sets the bits first and takes the cell's mutex after; who
// waits looks at the bits and leaves its waker in one section of that mutex. So
// whichever section is second sees what the first did: a waiter that came first
// is found in the list, one that comes second finds the bits. The ready nodes
// are moved to a list of the delivering thread's own before any waker is
// called, so that those who wait anew meanwhile are not woken again; a node can
// still unlink itself, since all such lists are under the same mutex. Its
// future holds a reference to the cell, so the generation cannot change while
// nodes are left.
#include "weft/io/source_cell.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "weft/io/readiness.h"
#include "weft/task/check.h"
#include "weft/task/wake_list.h"

namespace weft::io::io_internal {
namespace {

constexpr uint32_t kCellsPerChunk = 256;
constexpr uint32_t kMaxChunks = 16384;  // four million descriptors at a time

struct CellTable {
  std::mutex mutex;
  SourceCell* free = nullptr;  // under `mutex`, as is `chunk_count`
  uint32_t chunk_count = 0;
  // A chunk, once there, stays.
  std::atomic<SourceCell*> chunks[kMaxChunks] = {};

  // Requires: `mutex` is held.
  void AddChunk() {
    WEFT_CHECK(chunk_count < kMaxChunks,
               "four million sources exist at a time: close those not needed");
    auto* cells = new SourceCell[kCellsPerChunk];
    for (uint32_t i = kCellsPerChunk; i-- != 0;) {
      cells[i].index = chunk_count * kCellsPerChunk + i;
      cells[i].next_free = std::exchange(free, &cells[i]);
    }
    // Release: publishes the cells to SourceCellAt.
    chunks[chunk_count++].store(cells, std::memory_order_release);
  }
};

// Zero-initialized and never destroyed, so that the last event of the last
// thread finds it.
CellTable& Table() {
  static CellTable& table = *new CellTable;
  return table;
}

}  // namespace

void WaitQueue::PushBack(WaitNode& node) {
  node.previous = head_.previous;
  node.next = &head_;
  node.previous->next = &node;
  head_.previous = &node;
}

void WaitQueue::Remove(WaitNode& node) {
  if (node.previous == nullptr) return;
  node.previous->next = node.next;
  node.next->previous = node.previous;
  node.previous = node.next = nullptr;
}

void WaitQueue::MoveReady(uint32_t bits, WaitQueue& to) {
  for (WaitNode* node = head_.next; node != &head_;) {
    WaitNode& current = *std::exchange(node, node->next);
    if ((bits & ReadyBits(current.direction)) == 0) continue;
    Remove(current);
    to.PushBack(current);
  }
}

WaitNode& WaitQueue::PopFront() {
  WaitNode& node = *head_.next;
  Remove(node);
  return node;
}

void SourceCell::Unref() {
  // Acquire-release: the last one sees every use of the others.
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Waker old[2];
  {
    std::lock_guard lock(mutex);
    old[0] = std::move(slots[0]);
    old[1] = std::move(slots[1]);
    // Under the mutex, so that a Deliver of the old generation is over or finds
    // the new one.
    readiness.Reset();
  }
  CellTable& table = Table();
  std::lock_guard lock(table.mutex);
  next_free = std::exchange(table.free, this);
}

bool SourceCell::Deliver(uint32_t generation, uint32_t bits, WakeList& wakers) {
  if (!readiness.Set(generation, bits)) return false;
  Waker taken[2];
  WaitQueue ready;
  std::unique_lock lock(mutex);
  if (readiness.Load().generation() != generation) return false;
  for (Direction direction : {Direction::kRead, Direction::kWrite}) {
    if ((bits & ReadyBits(direction)) == 0) continue;
    const size_t i = static_cast<size_t>(direction);
    taken[i] = std::move(slots[i]);
  }
  waiters.MoveReady(bits, ready);
  while (!ready.IsEmpty()) {
    if (wakers.IsFull()) {
      lock.unlock();
      wakers.WakeAll();
      lock.lock();
      continue;
    }
    wakers.Add(std::move(ready.PopFront().waker));
  }
  lock.unlock();
  for (Waker& waker : taken) {
    if (!waker) continue;
    if (wakers.IsFull()) wakers.WakeAll();
    wakers.Add(std::move(waker));
  }
  return true;
}

SourceCell* AllocateSourceCell(int fd, bool restore_blocking) {
  CellTable& table = Table();
  SourceCell* cell;
  {
    std::lock_guard lock(table.mutex);
    if (table.free == nullptr) table.AddChunk();
    cell = std::exchange(table.free, table.free->next_free);
  }
  cell->fd = fd;
  cell->restore_blocking = restore_blocking;
  cell->use.Reset();
  // Relaxed: no other thread knows the cell yet.
  cell->core.store(nullptr, std::memory_order_relaxed);
  cell->references.store(1, std::memory_order_relaxed);
  return cell;
}

SourceCell& SourceCellAt(uint32_t index) {
  // Acquire: pairs with AddChunk.
  SourceCell* chunk =
      Table().chunks[index / kCellsPerChunk].load(std::memory_order_acquire);
  return chunk[index % kCellsPerChunk];
}

}  // namespace weft::io::io_internal
