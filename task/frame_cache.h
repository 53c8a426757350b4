// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Memory for coroutine frames and task cells.
//
// Small blocks (up to 1024 bytes, in classes 128 bytes apart) are kept in a magazine
// per thread and class; full and empty magazines are exchanged with a
// central depot, so that blocks freed on another thread than the one that
// allocates come back. A thread's magazines go to the depot when it ends.
// They are cut out of slabs (task/frame_slabs.h); larger ones come from operator
// new. Of what was in use at once, at most 8 MiB of a class are kept for later.
// (Bonwick, Adams: "Magazines and Vmem", USENIX 2001.)
//
// Under AddressSanitizer, MemorySanitizer and valgrind every block goes
// straight to the allocator, so that these tools see each use after free.
//
// Thread safety: all functions from any thread.
#ifndef WEFT_TASK_FRAME_CACHE_H_
#define WEFT_TASK_FRAME_CACHE_H_

#include <cstddef>

namespace weft {

// Where the blocks come from. Functions must not throw; allocate returns null
// when there is no memory, which ends the program with a message. Blocks are
// aligned as by malloc; where two share a cache line, their tasks slow each other
// down on different processors.
struct FrameAllocator {
  void* (*allocate)(size_t size);
  void (*deallocate)(void* block, size_t size);
};

// Replaces what is behind the cache, slabs and operator new, by one call for each
// block. Call before the first coroutine is created. `allocator` lives forever.
void SetFrameAllocator(const FrameAllocator* allocator);

// From now on `handler` is called for each block of at least `bytes` that is asked
// for, on the thread that makes the coroutine or the task; null: for none. It must
// not throw. Blocks of up to 1024 bytes are never reported. Thread safety: any
// thread.
void SetLargeFrameHandler(size_t bytes, void (*handler)(size_t size));

// What the cache did since the program started, where the allocator stands also for
// the slabs; approximate while threads run.
struct FrameCacheStats {
  size_t blocks_from_allocator = 0;
  size_t blocks_to_allocator = 0;
};
FrameCacheStats GetFrameCacheStats();

namespace task_internal {

inline constexpr size_t kFrameAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

// Only futures of our own can be asked to bring their frames into the cache.
struct PrefetchTag {};

// A block of at least `size` bytes. Never null.
void* AllocateFrame(size_t size);
// Requires: `block` came from AllocateFrame(size).
void FreeFrame(void* block, size_t size);

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_FRAME_CACHE_H_
