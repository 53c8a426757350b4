// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Each thread has two magazines per class, "loaded" and "spare",
// each full, empty or (loaded only) in between; an allocation pops from loaded,
// a free pushes to it. When loaded is empty (or full) it is swapped with a full
// (or empty) spare; failing that, spare is exchanged with the depot. So a
// thread that alternates between allocating and freeing at a boundary does not
// visit the depot each time. The depot keeps at most kDepotMagazines full
// magazines per class; what comes beyond goes back to the allocator. Blocks in
// a magazine are linked through their first word; no memory beside the blocks
// is needed.
#include "weft/task/frame_cache.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "weft/task/check.h"

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(x) __has_feature(x)
#else
#define WEFT_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || WEFT_HAS_FEATURE(address_sanitizer) || \
    WEFT_HAS_FEATURE(memory_sanitizer)
#define WEFT_FRAME_CACHE_PASSES_THROUGH 1
#else
#define WEFT_FRAME_CACHE_PASSES_THROUGH 0
#endif

namespace weft {
namespace {

constexpr size_t kClassStep = 16;
constexpr size_t kMaxCached = 512;
constexpr size_t kClasses = kMaxCached / kClassStep;
constexpr size_t kMagazineBlocks = 64;
constexpr size_t kDepotMagazines = 256;

void* DefaultAllocate(size_t size) {
  return ::operator new(size, std::nothrow);
}
void DefaultDeallocate(void* block, size_t) { ::operator delete(block); }
constexpr FrameAllocator kDefaultAllocator = {&DefaultAllocate,
                                              &DefaultDeallocate};

std::atomic<const FrameAllocator*> allocator{&kDefaultAllocator};
std::atomic<size_t> blocks_from_allocator{0};
std::atomic<size_t> blocks_to_allocator{0};

void* AllocateBlock(size_t size) {
  // Relaxed: statistics. Acquire: the allocator's own set-up.
  blocks_from_allocator.fetch_add(1, std::memory_order_relaxed);
  void* block = allocator.load(std::memory_order_acquire)->allocate(size);
  WEFT_CHECK(block != nullptr, "out of memory for a coroutine frame");
  return block;
}

void DeallocateBlock(void* block, size_t size) {
  // Relaxed: statistics. Acquire: the allocator's own set-up.
  blocks_to_allocator.fetch_add(1, std::memory_order_relaxed);
  allocator.load(std::memory_order_acquire)->deallocate(block, size);
}

bool UnderValgrind() {
#if defined(__x86_64__)
  // The client request "running on valgrind" (valgrind.h, core interface):
  // outside valgrind this rotates a register by 128 bits, which is nothing.
  static const bool under_valgrind = [] {
    volatile unsigned long long request[6] = {0x1001, 0, 0, 0, 0, 0};
    volatile unsigned long long result = 0;
    __asm__ volatile(
        "rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
        "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
        "xchgq %%rbx, %%rbx"
        : "=d"(result)
        : "a"(&request[0]), "0"(result)
        : "cc", "memory", "rdi");
    return result != 0;
  }();
  return under_valgrind;
#else
  return false;
#endif
}

struct Block {
  Block* next;
};

struct Magazine {
  Block* top = nullptr;
  size_t size = 0;

  void Push(void* memory) {
    top = new (memory) Block{top};
    ++size;
  }
  void* Pop() {
    --size;
    return std::exchange(top, top->next);
  }
};

void ReleaseAll(Magazine magazine, size_t block_size) {
  while (magazine.size != 0) DeallocateBlock(magazine.Pop(), block_size);
}

class Depot {
 public:
  Magazine TakeFull(size_t size_class) {
    Class& c = classes_[size_class];
    std::lock_guard lock(c.mutex);
    return c.count == 0 ? Magazine() : c.magazines[--c.count];
  }

  void Put(size_t size_class, Magazine magazine) {
    {
      Class& c = classes_[size_class];
      std::lock_guard lock(c.mutex);
      if (c.count < kDepotMagazines) {
        c.magazines[c.count++] = magazine;
        return;
      }
    }
    ReleaseAll(magazine, (size_class + 1) * kClassStep);
  }

 private:
  struct Class {
    std::mutex mutex;
    size_t count = 0;
    std::array<Magazine, kDepotMagazines> magazines;
  };
  std::array<Class, kClasses> classes_;
};

// Lives forever: threads may end after static destruction.
Depot& TheDepot() {
  static Depot* const depot = new Depot;
  return *depot;
}

struct ThreadCache {
  struct Class {
    Magazine loaded;
    Magazine spare;
  };
  std::array<Class, kClasses> classes;

  ~ThreadCache();
};

// A frame may be freed after this thread's cache is destroyed, by the
// destructor of another thread-local; the pointer then says so.
constinit thread_local ThreadCache* thread_cache = nullptr;
constinit thread_local bool thread_cache_gone = false;

ThreadCache::~ThreadCache() {
  thread_cache = nullptr;
  thread_cache_gone = true;
  for (size_t i = 0; i < kClasses; ++i) {
    for (Magazine magazine : {classes[i].loaded, classes[i].spare}) {
      if (magazine.size != 0) TheDepot().Put(i, magazine);
    }
  }
}

[[gnu::noinline]] ThreadCache* MakeThreadCache() {
  if (thread_cache_gone) return nullptr;
  static thread_local ThreadCache cache;
  return thread_cache = &cache;
}

inline ThreadCache* GetThreadCache() {
  return thread_cache != nullptr ? thread_cache : MakeThreadCache();
}

[[gnu::noinline]] void* AllocateSlow(ThreadCache::Class& c, size_t size_class) {
  std::swap(c.loaded, c.spare);
  if (c.loaded.size == 0) c.loaded = TheDepot().TakeFull(size_class);
  if (c.loaded.size != 0) return c.loaded.Pop();
  return AllocateBlock((size_class + 1) * kClassStep);
}

[[gnu::noinline]] void FreeSlow(ThreadCache::Class& c, size_t size_class,
                                void* block) {
  std::swap(c.loaded, c.spare);
  if (c.loaded.size == kMagazineBlocks) {
    TheDepot().Put(size_class, std::exchange(c.loaded, Magazine()));
  }
  c.loaded.Push(block);
}

inline bool IsCached(size_t size) {
  if constexpr (WEFT_FRAME_CACHE_PASSES_THROUGH) return false;
  return size - 1 < kMaxCached && !UnderValgrind();
}

}  // namespace

void SetFrameAllocator(const FrameAllocator* new_allocator) {
  allocator.store(new_allocator, std::memory_order_release);
}

FrameCacheStats GetFrameCacheStats() {
  // Relaxed: the two belong to no common moment anyway.
  return {.blocks_from_allocator =
              blocks_from_allocator.load(std::memory_order_relaxed),
          .blocks_to_allocator =
              blocks_to_allocator.load(std::memory_order_relaxed)};
}

namespace task_internal {

void* AllocateFrame(size_t size) {
  if (!IsCached(size)) return AllocateBlock(size);
  const size_t size_class = (size - 1) / kClassStep;
  ThreadCache* cache = GetThreadCache();
  if (cache == nullptr) return AllocateBlock((size_class + 1) * kClassStep);
  ThreadCache::Class& c = cache->classes[size_class];
  if (c.loaded.size != 0) return c.loaded.Pop();
  return AllocateSlow(c, size_class);
}

void FreeFrame(void* block, size_t size) {
  if (!IsCached(size)) return DeallocateBlock(block, size);
  const size_t size_class = (size - 1) / kClassStep;
  ThreadCache* cache = GetThreadCache();
  if (cache == nullptr) {
    return DeallocateBlock(block, (size_class + 1) * kClassStep);
  }
  ThreadCache::Class& c = cache->classes[size_class];
  if (c.loaded.size < kMagazineBlocks) return c.loaded.Push(block);
  FreeSlow(c, size_class, block);
}

}  // namespace task_internal
}  // namespace weft
