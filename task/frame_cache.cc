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
//
// Statistics are kept per thread, in counters that it alone writes, and summed on
// request: no word of the process is touched by an allocation, also while memory
// grows. A thread that ends adds its counts to those of the threads before it.
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

// A number that one thread writes and any may read.
class Counter {
 public:
  void Increment() { value_.store(Get() + 1, std::memory_order_relaxed); }
  // Relaxed: a statistic.
  size_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<size_t> value_{0};
};

// What one thread got from the allocator and gave back to it.
struct ThreadCounts {
  Counter from_allocator;
  Counter to_allocator;
  ThreadCounts* next = nullptr;
  ThreadCounts* previous = nullptr;
};

// The counts of all threads.
class Counts {
 public:
  void Add(ThreadCounts& thread) {
    const std::lock_guard lock(mutex_);
    thread.next = first_;
    if (first_ != nullptr) first_->previous = &thread;
    first_ = &thread;
  }

  void Remove(ThreadCounts& thread) {
    const std::lock_guard lock(mutex_);
    (thread.previous != nullptr ? thread.previous->next : first_) = thread.next;
    if (thread.next != nullptr) thread.next->previous = thread.previous;
    AddTo(gone_, thread);
  }

  // For a thread without counts of its own.
  void AddToGone(size_t FrameCacheStats::* count) {
    const std::lock_guard lock(mutex_);
    ++(gone_.*count);
  }

  FrameCacheStats Sum() {
    const std::lock_guard lock(mutex_);
    FrameCacheStats sum = gone_;
    for (ThreadCounts* thread = first_; thread; thread = thread->next) {
      AddTo(sum, *thread);
    }
    return sum;
  }

 private:
  static void AddTo(FrameCacheStats& sum, const ThreadCounts& thread) {
    sum.blocks_from_allocator += thread.from_allocator.Get();
    sum.blocks_to_allocator += thread.to_allocator.Get();
  }

  std::mutex mutex_;
  ThreadCounts* first_ = nullptr;
  FrameCacheStats gone_;  // of threads that have ended
};

// Lives forever: threads may end after static destruction.
Counts& AllCounts() {
  static Counts* const counts = new Counts;
  return *counts;
}

// This thread's counts; null if it is ending.
ThreadCounts* CountsOfThread();

void* AllocateBlock(size_t size) {
  if (ThreadCounts* counts = CountsOfThread()) {
    counts->from_allocator.Increment();
  } else {
    AllCounts().AddToGone(&FrameCacheStats::blocks_from_allocator);
  }
  // Acquire: the allocator's own set-up.
  void* block = allocator.load(std::memory_order_acquire)->allocate(size);
  WEFT_CHECK(block != nullptr, "out of memory for a coroutine frame");
  return block;
}

void DeallocateBlock(void* block, size_t size) {
  if (ThreadCounts* counts = CountsOfThread()) {
    counts->to_allocator.Increment();
  } else {
    AllCounts().AddToGone(&FrameCacheStats::blocks_to_allocator);
  }
  // Acquire: the allocator's own set-up.
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
    // A hint, so that threads whose memory grows take no lock.
    if (c.Count() == 0) return Magazine();
    const std::lock_guard lock(c.mutex);
    const size_t count = c.Count();
    if (count == 0) return Magazine();
    c.SetCount(count - 1);
    return c.magazines[count - 1];
  }

  void Put(size_t size_class, Magazine magazine) {
    {
      Class& c = classes_[size_class];
      const std::lock_guard lock(c.mutex);
      const size_t count = c.Count();
      if (count < kDepotMagazines) {
        c.magazines[count] = magazine;
        c.SetCount(count + 1);
        return;
      }
    }
    ReleaseAll(magazine, (size_class + 1) * kClassStep);
  }

 private:
  struct Class {
    // Relaxed: written under the mutex, which orders it.
    size_t Count() const { return count.load(std::memory_order_relaxed); }
    void SetCount(size_t n) { count.store(n, std::memory_order_relaxed); }

    std::mutex mutex;
    std::atomic<size_t> count = 0;
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
  ThreadCounts counts;

  ThreadCache() { AllCounts().Add(counts); }
  ~ThreadCache();
};

// Where blocks are kept; null also before the first use, while the thread ends,
// and where every block goes to the allocator. Frames may be freed after the
// cache is destroyed, by the destructor of another thread-local.
constinit thread_local ThreadCache* thread_cache = nullptr;

enum class Life { kNotMade, kMade, kGone };
constinit thread_local Life thread_cache_life = Life::kNotMade;

ThreadCache::~ThreadCache() {
  thread_cache = nullptr;
  for (size_t i = 0; i < kClasses; ++i) {
    for (Magazine magazine : {classes[i].loaded, classes[i].spare}) {
      if (magazine.size != 0) TheDepot().Put(i, magazine);
    }
  }
  thread_cache_life = Life::kGone;
  AllCounts().Remove(counts);
}

bool Caches() {
  if constexpr (WEFT_FRAME_CACHE_PASSES_THROUGH) return false;
  return !UnderValgrind();
}

// Null if the thread is ending.
ThreadCache* MadeCache() {
  if (thread_cache_life == Life::kGone) return nullptr;
  static thread_local ThreadCache cache;
  if (thread_cache_life == Life::kNotMade) {
    thread_cache_life = Life::kMade;
    if (Caches()) thread_cache = &cache;
  }
  return &cache;
}

ThreadCounts* CountsOfThread() {
  ThreadCache* cache = MadeCache();
  return cache == nullptr ? nullptr : &cache->counts;
}

size_t ClassOf(size_t size) { return (size - 1) / kClassStep; }

// What is asked of the allocator: nothing is rounded where nothing is kept.
size_t BlockSize(size_t size) {
  if (size - 1 >= kMaxCached || !Caches()) return size;
  return (ClassOf(size) + 1) * kClassStep;
}

[[gnu::noinline]] void* AllocateSlow(size_t size) {
  MadeCache();
  if (thread_cache != nullptr && size - 1 < kMaxCached) {
    ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
    std::swap(c.loaded, c.spare);
    if (c.loaded.size == 0) c.loaded = TheDepot().TakeFull(ClassOf(size));
    if (c.loaded.size != 0) return c.loaded.Pop();
  }
  return AllocateBlock(BlockSize(size));
}

[[gnu::noinline]] void FreeSlow(void* block, size_t size) {
  MadeCache();
  if (thread_cache == nullptr || size - 1 >= kMaxCached) {
    return DeallocateBlock(block, BlockSize(size));
  }
  ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
  if (c.loaded.size == kMagazineBlocks) std::swap(c.loaded, c.spare);
  if (c.loaded.size == kMagazineBlocks) {
    TheDepot().Put(ClassOf(size), std::exchange(c.loaded, Magazine()));
  }
  c.loaded.Push(block);
}

}  // namespace

void SetFrameAllocator(const FrameAllocator* new_allocator) {
  allocator.store(new_allocator, std::memory_order_release);
}

FrameCacheStats GetFrameCacheStats() { return AllCounts().Sum(); }

namespace task_internal {

void* AllocateFrame(size_t size) {
  if (thread_cache != nullptr && size - 1 < kMaxCached) {
    ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
    if (c.loaded.size != 0) return c.loaded.Pop();
  }
  return AllocateSlow(size);
}

void FreeFrame(void* block, size_t size) {
  if (thread_cache != nullptr && size - 1 < kMaxCached) {
    ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
    if (c.loaded.size < kMagazineBlocks) return c.loaded.Push(block);
  }
  FreeSlow(block, size);
}

}  // namespace task_internal
}  // namespace weft
