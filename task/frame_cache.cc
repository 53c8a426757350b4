// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Each thread has two magazines per class, "loaded" and "spare",
// each full, empty or (loaded only) in between; an allocation pops from loaded, a
// free pushes to it. When loaded is empty (or full) it is swapped with a full
// (or empty) spare; failing that, spare is exchanged with the depot. So a
// thread that alternates between allocating and freeing at a boundary does not
// visit the depot each time. The depot keeps a bounded number of full magazines
// per class; what comes beyond goes back to where blocks come from.
//
// That is a slab (frame_slabs.h). A thread takes all that one has: the blocks that
// came back are its loaded magazine, larger than full, and the unused row it cuts.
// It is the allocator, if that was replaced or the block is large.
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

#include "weft/task/block_list.h"
#include "weft/task/check.h"
#include "weft/task/frame_slabs.h"

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

using Magazine = task_internal::BlockList;
using task_internal::BlockRow;
using task_internal::FrameSlabs;

constexpr size_t kClassStep = FrameSlabs::kGranule;
constexpr size_t kMaxCached = 1024;
constexpr size_t kClasses = kMaxCached / kClassStep;
constexpr size_t kMagazineBlocks = 64;
constexpr size_t kDepotBytes = 4 << 20;  // of a class

// Null: slabs for small blocks, operator new for others.
std::atomic<const FrameAllocator*> allocator{nullptr};

const FrameAllocator* Allocator() {
  // Acquire: the allocator's own set-up.
  return allocator.load(std::memory_order_acquire);
}

constexpr size_t ClassOf(size_t size) { return (size - 1) / kClassStep; }
constexpr size_t SizeOfClass(size_t size_class) {
  return (size_class + 1) * kClassStep;
}

// In the depot.
constexpr size_t MostMagazines(size_t size_class) {
  return kDepotBytes / (kMagazineBlocks * SizeOfClass(size_class));
}

// A number that one thread writes and any may read.
class Counter {
 public:
  void Add(size_t n) { value_.store(Get() + n, std::memory_order_relaxed); }
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
  void AddToGone(size_t FrameCacheStats::* count, size_t n) {
    const std::lock_guard lock(mutex_);
    gone_.*count += n;
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

void Count(Counter ThreadCounts::* mine, size_t FrameCacheStats::* gone,
           size_t blocks) {
  if (ThreadCounts* counts = CountsOfThread()) {
    (counts->*mine).Add(blocks);
  } else {
    AllCounts().AddToGone(gone, blocks);
  }
}

void CountFromAllocator(size_t blocks) {
  Count(&ThreadCounts::from_allocator, &FrameCacheStats::blocks_from_allocator,
        blocks);
}

void CountToAllocator(size_t blocks) {
  Count(&ThreadCounts::to_allocator, &FrameCacheStats::blocks_to_allocator,
        blocks);
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

bool Caches() {
  if constexpr (WEFT_FRAME_CACHE_PASSES_THROUGH) return false;
  return !UnderValgrind();
}

bool FromSlabs(size_t size) {
  return size - 1 < kMaxCached && Allocator() == nullptr && Caches();
}

// The slabs of each class. Live forever: threads may end after static destruction.
FrameSlabs& SlabsOf(size_t size_class) {
  using All = std::array<FrameSlabs*, kClasses>;
  static const All* const all = [] {
    auto* made = new All;
    for (size_t i = 0; i < kClasses; ++i) {
      (*made)[i] = new FrameSlabs(SizeOfClass(i));
    }
    return made;
  }();
  return *(*all)[size_class];
}

// What is asked of the allocator: nothing is rounded where nothing is kept.
size_t BlockSize(size_t size) {
  if (size - 1 >= kMaxCached || !Caches()) return size;
  return SizeOfClass(ClassOf(size));
}

// Gives a block back to where it comes from.
void DeallocateBlock(void* block, size_t size) {
  CountToAllocator(1);
  if (FromSlabs(size)) {
    Magazine one;
    one.Push(block);
    SlabsOf(ClassOf(size)).Give(one);
  } else if (const FrameAllocator* replaced = Allocator()) {
    replaced->deallocate(block, BlockSize(size));
  } else {
    ::operator delete(block);
  }
}

void ReleaseAll(Magazine magazine, size_t size_class) {
  const size_t size = SizeOfClass(size_class);
  if (FromSlabs(size)) {
    CountToAllocator(magazine.size());
    return SlabsOf(size_class).Give(magazine);
  }
  while (magazine.size() != 0) DeallocateBlock(magazine.Pop(), size);
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
    if (magazine.size() <= kMagazineBlocks) {
      Class& c = classes_[size_class];
      const std::lock_guard lock(c.mutex);
      const size_t count = c.Count();
      if (count < MostMagazines(size_class)) {
        c.magazines[count] = magazine;
        c.SetCount(count + 1);
        return;
      }
    }
    ReleaseAll(magazine, size_class);
  }

 private:
  struct Class {
    // Relaxed: written under the mutex, which orders it.
    size_t Count() const { return count.load(std::memory_order_relaxed); }
    void SetCount(size_t n) { count.store(n, std::memory_order_relaxed); }

    std::mutex mutex;
    std::atomic<size_t> count = 0;
    std::array<Magazine, MostMagazines(0)> magazines;
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
    BlockRow row;  // of a slab
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
      if (magazine.size() != 0) TheDepot().Put(i, magazine);
    }
    if (!classes[i].row.IsEmpty()) SlabsOf(i).Give(classes[i].row);
  }
  thread_cache_life = Life::kGone;
  AllCounts().Remove(counts);
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

// Null if there is no memory.
void* AllocateFromSlab(size_t size_class) {
  FrameSlabs& slabs = SlabsOf(size_class);
  const size_t block_size = SizeOfClass(size_class);
  if (thread_cache == nullptr) {
    CountFromAllocator(1);
    return slabs.TakeOne();
  }
  // Requires: its magazines are empty.
  ThreadCache::Class& c = thread_cache->classes[size_class];
  if (c.row.IsEmpty()) {
    FrameSlabs::Supply supply = slabs.Take();
    c.loaded = supply.used;
    c.row = supply.row;
    CountFromAllocator(supply.used.size());
    if (c.loaded.size() != 0) return c.loaded.Pop();
    if (c.row.IsEmpty()) return nullptr;
  }
  CountFromAllocator(1);
  return c.row.Cut(block_size);
}

// See SetLargeFrameHandler().
constinit std::atomic<size_t> large_frame_bytes{0};
constinit std::atomic<void (*)(size_t)> large_frame_handler{nullptr};

[[gnu::noinline]] void* AllocateSlow(size_t size) {
  // Acquire: the limit that belongs to it.
  if (auto* handler = large_frame_handler.load(std::memory_order_acquire)) {
    if (size > kMaxCached && size >= large_frame_bytes.load()) handler(size);
  }
  MadeCache();
  const size_t size_class = ClassOf(size);
  if (thread_cache != nullptr && size - 1 < kMaxCached) {
    ThreadCache::Class& c = thread_cache->classes[size_class];
    std::swap(c.loaded, c.spare);
    if (c.loaded.size() == 0) c.loaded = TheDepot().TakeFull(size_class);
    if (c.loaded.size() != 0) return c.loaded.Pop();
  }
  void* block = nullptr;
  if (FromSlabs(size)) {
    block = AllocateFromSlab(size_class);
  } else {
    CountFromAllocator(1);
    const FrameAllocator* replaced = Allocator();
    block = replaced != nullptr ? replaced->allocate(BlockSize(size))
                                : ::operator new(BlockSize(size), std::nothrow);
  }
  WEFT_CHECK(block != nullptr, "out of memory for a coroutine frame");
  return block;
}

[[gnu::noinline]] void FreeSlow(void* block, size_t size) {
  MadeCache();
  if (thread_cache == nullptr || size - 1 >= kMaxCached) {
    return DeallocateBlock(block, size);
  }
  ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
  if (c.loaded.size() >= kMagazineBlocks) std::swap(c.loaded, c.spare);
  if (c.loaded.size() >= kMagazineBlocks) {
    TheDepot().Put(ClassOf(size), std::exchange(c.loaded, Magazine()));
  }
  c.loaded.Push(block);
}

}  // namespace

void SetFrameAllocator(const FrameAllocator* new_allocator) {
  allocator.store(new_allocator, std::memory_order_release);
}

void SetLargeFrameHandler(size_t bytes, void (*handler)(size_t size)) {
  large_frame_bytes.store(bytes);
  // Release: with its limit.
  large_frame_handler.store(handler, std::memory_order_release);
}

FrameCacheStats GetFrameCacheStats() { return AllCounts().Sum(); }

namespace task_internal {

void* AllocateFrame(size_t size) {
  if (thread_cache != nullptr && size - 1 < kMaxCached) {
    ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
    if (c.loaded.size() != 0) return c.loaded.Pop();
  }
  return AllocateSlow(size);
}

void FreeFrame(void* block, size_t size) {
  if (thread_cache != nullptr && size - 1 < kMaxCached) {
    ThreadCache::Class& c = thread_cache->classes[ClassOf(size)];
    if (c.loaded.size() < kMagazineBlocks) return c.loaded.Push(block);
  }
  FreeSlow(block, size);
}

}  // namespace task_internal
}  // namespace weft
