// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// FrameSlabs: cuts blocks of one size out of large pieces of memory. Internal to
// the frame cache.
//
// Blocks are whole pairs of cache lines, so that two tasks which run on two
// processors never share one: where they did, a yield took 1.6 times as long.
//
// A slab is kSlabSize bytes, aligned to that, so the slab of a block is found from
// its address. It begins with a header: which blocks have come back, and which part
// has never been used, whose pages the system need not have filled yet. Slabs of
// which nothing is in use are given back to the system, but for a few.
//
// Thread safety: all functions from any thread.
// Lifetime: what it gave has come back before it ends, so it mostly lives for ever.
#ifndef WEFT_TASK_FRAME_SLABS_H_
#define WEFT_TASK_FRAME_SLABS_H_

#include <cstddef>
#include <mutex>

#include "weft/task/block_list.h"

namespace weft::task_internal {

// Blocks in a row that were never used.
struct BlockRow {
  char* begin = nullptr;
  char* end = nullptr;

  bool IsEmpty() const { return begin == end; }
  // Requires: not empty.
  void* Cut(size_t block_size) {
    void* block = begin;
    begin += block_size;
    return block;
  }
};

class FrameSlabs {
 public:
  // Bytes of two cache lines. Processors fetch them in pairs (Intel 64 Optimization
  // Reference Manual, "spatial prefetcher").
  static constexpr size_t kGranule = 128;
  static constexpr size_t kSlabSize = size_t{256} << 10;
  static constexpr size_t kReserve = 16;  // slabs of which nothing is in use

  // Requires: block_size is a multiple of kGranule and much less than kSlabSize.
  explicit FrameSlabs(size_t block_size) : block_size_(block_size) {}
  ~FrameSlabs();
  FrameSlabs(const FrameSlabs&) = delete;
  FrameSlabs& operator=(const FrameSlabs&) = delete;

  // What one slab has. Both are empty if the system has no memory.
  struct Supply {
    BlockList used;
    BlockRow row;
  };
  Supply Take();
  // A single block, for a thread that keeps none; null if there is no memory.
  void* TakeOne();

  // Takes back what Take() gave, in any parts.
  void Give(BlockList blocks);
  void Give(BlockRow row);

  // How many slabs there are.
  size_t slabs();

 private:
  struct Slab;

  static Slab& SlabOf(void* block);
  bool IsWhole(const Slab& slab) const;
  Slab* NewSlab();
  void Link(Slab& slab);
  void Unlink(Slab& slab);
  Slab* KeepOrUnlink(Slab& slab);

  const size_t block_size_;
  std::mutex mutex_;       // guards the rest, and all slabs
  Slab* first_ = nullptr;  // of those that have something to give
  size_t slabs_ = 0;
  size_t whole_ = 0;  // of which nothing is in use
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_FRAME_SLABS_H_
