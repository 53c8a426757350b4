// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/frame_slabs.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "weft/task/block_list.h"

namespace weft::task_internal {

struct alignas(FrameSlabs::kGranule) FrameSlabs::Slab {
  BlockList used;
  BlockRow row;
  // In the list of those of which one of the above is not empty.
  Slab* next = nullptr;
  Slab* previous = nullptr;
};

namespace {

constexpr size_t kSize = FrameSlabs::kSlabSize;

// Memory aligned to its size; null if there is none. From the allocator of the
// program: cutting what mmap(2) gives would leave each slab a mapping of its own, of
// which a process may have few, and whose end may fail.
void* AllocateSlab() {
  return ::operator new(kSize, std::align_val_t(kSize), std::nothrow);
}

void FreeSlab(void* slab) { ::operator delete(slab, std::align_val_t(kSize)); }

}  // namespace

FrameSlabs::~FrameSlabs() {
  while (first_ != nullptr) {
    FreeSlab(std::exchange(first_, first_->next));
  }
}

FrameSlabs::Supply FrameSlabs::Take() {
  const std::lock_guard lock(mutex_);
  Slab* slab = first_ != nullptr ? first_ : NewSlab();
  if (slab == nullptr) return Supply();
  if (IsWhole(*slab)) --whole_;
  Unlink(*slab);
  return {std::exchange(slab->used, BlockList()),
          std::exchange(slab->row, BlockRow())};
}

void* FrameSlabs::TakeOne() {
  const std::lock_guard lock(mutex_);
  Slab* slab = first_ != nullptr ? first_ : NewSlab();
  if (slab == nullptr) return nullptr;
  if (IsWhole(*slab)) --whole_;
  void* block =
      slab->used.size() != 0 ? slab->used.Pop() : slab->row.Cut(block_size_);
  if (slab->used.size() == 0 && slab->row.IsEmpty()) Unlink(*slab);
  return block;
}

void FrameSlabs::Give(BlockList blocks) {
  while (blocks.size() != 0) {
    Slab* unused = nullptr;
    {
      const std::lock_guard lock(mutex_);
      while (blocks.size() != 0 && unused == nullptr) {
        void* block = blocks.Pop();
        Slab& slab = SlabOf(block);
        if (slab.used.size() == 0 && slab.row.IsEmpty()) Link(slab);
        slab.used.Push(block);
        unused = KeepOrUnlink(slab);
      }
    }
    if (unused != nullptr) FreeSlab(unused);
  }
}

void FrameSlabs::Give(BlockRow row) {
  if (row.IsEmpty()) return;
  Slab* unused = nullptr;
  {
    const std::lock_guard lock(mutex_);
    Slab& slab = SlabOf(row.begin);
    if (slab.used.size() == 0) Link(slab);
    slab.row = row;
    unused = KeepOrUnlink(slab);
  }
  if (unused != nullptr) FreeSlab(unused);
}

size_t FrameSlabs::slabs() {
  const std::lock_guard lock(mutex_);
  return slabs_;
}

FrameSlabs::Slab& FrameSlabs::SlabOf(void* block) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(block) % kSize;
  return *std::launder(
      reinterpret_cast<Slab*>(static_cast<char*>(block) - offset));
}

bool FrameSlabs::IsWhole(const Slab& slab) const {
  const size_t in_row = static_cast<size_t>(slab.row.end - slab.row.begin);
  return slab.used.size() + in_row / block_size_ ==
         (kSize - sizeof(Slab)) / block_size_;
}

FrameSlabs::Slab* FrameSlabs::NewSlab() {
  void* memory = AllocateSlab();
  if (memory == nullptr) return nullptr;
  Slab* slab = new (memory) Slab;
  slab->row.begin = static_cast<char*>(memory) + sizeof(Slab);
  slab->row.end =
      slab->row.begin + (kSize - sizeof(Slab)) / block_size_ * block_size_;
  Link(*slab);
  ++slabs_;
  ++whole_;
  return slab;
}

void FrameSlabs::Link(Slab& slab) {
  slab.previous = nullptr;
  slab.next = first_;
  if (first_ != nullptr) first_->previous = &slab;
  first_ = &slab;
}

void FrameSlabs::Unlink(Slab& slab) {
  (slab.previous != nullptr ? slab.previous->next : first_) = slab.next;
  if (slab.next != nullptr) slab.next->previous = slab.previous;
}

// Something of the slab has come back: the slab, if it is to be freed, or null.
FrameSlabs::Slab* FrameSlabs::KeepOrUnlink(Slab& slab) {
  if (!IsWhole(slab)) return nullptr;
  if (whole_ < kReserve) {
    ++whole_;
    return nullptr;
  }
  Unlink(slab);
  --slabs_;
  return &slab;
}

}  // namespace weft::task_internal
