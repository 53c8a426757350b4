// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Injector: the queue that all runners share. Internal to the executor.
//
// moodycamel's queue with three things added. First, an exact count, raised
// before the item goes in and lowered after one came out: the queue itself may
// look empty for a moment when two consumers meet, which would let a runner
// sleep beside work. While the count is not zero, looking again will find
// something. Second, fairness: threads share a few producers, and a consumer
// moves on to the next producer after each dequeue. So a thread that pushes
// much does not keep the items of others waiting, and threads that are gone
// cost neither memory nor turns. Third, annotations for ThreadSanitizer, which
// does not see the queue's fences.
//
// Items of one thread come out in its order; there is no order between threads.
//
// Thread safety: any thread; a Consumer by one thread at a time.
// Lifetime: Consumers end before the Injector. Items left inside are forgotten.
#ifndef WEFT_EXECUTOR_INJECTOR_H_
#define WEFT_EXECUTOR_INJECTOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "concurrentqueue.h"
#include "weft/task/check.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define WEFT_INJECTOR_TSAN 1
#endif
#endif

namespace weft::executor_internal {

class Injector {
 private:
  struct Traits : moodycamel::ConcurrentQueueDefaultTraits {
    static const uint32_t EXPLICIT_CONSUMER_CONSUMPTION_QUOTA_BEFORE_ROTATE = 1;
  };
  using Queue = moodycamel::ConcurrentQueue<void*, Traits>;

 public:
  // A dequeue looks at one more producer each time, so an item waits for at
  // most this many dequeues before its producer has its turn.
  static constexpr uint32_t kProducers = 8;

  // The place of somebody who pops.
  class Consumer {
   public:
    explicit Consumer(Injector& injector) : token_(injector.queue_) {}

   private:
    friend Injector;
    moodycamel::ConsumerToken token_;
  };

  Injector() {
    for (Producer& producer : producers_) producer.token.emplace(queue_);
  }
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  // For threads from outside, which share all producers but one.
  void Push(void* item) { Push(producers_[1 + OwnProducer()], &item, 1); }
  // For runners that have too much. They have the one: their many tasks must
  // not lie in front of those from outside.
  void PushMany(void* const* items, size_t count) {
    Push(producers_[0], items, count);
  }

  // Takes up to `max` items and returns how many. 0 while Size() is not 0 means
  // that somebody is just pushing or popping: look again.
  size_t Pop(Consumer& consumer, void** out, size_t max) {
    // Relaxed: a miss here is no worse than one in the queue.
    if (count_.load(std::memory_order_relaxed) == 0) return 0;
    const size_t count = queue_.try_dequeue_bulk(consumer.token_, out, max);
    for (size_t i = 0; i < count; ++i) AcquireItem(out[i]);
    // Relaxed: says nothing to anybody but that the items are gone.
    if (count != 0) count_.fetch_sub(count, std::memory_order_relaxed);
    return count;
  }

  // How many items there are, or will be in a moment. Sequentially consistent:
  // an item whose Push comes before this in that order is counted, unless it
  // has been taken.
  size_t Size() const { return count_.load(std::memory_order_seq_cst); }

 private:
  struct alignas(64) Producer {
    std::mutex mutex;  // guards the next one
    std::optional<moodycamel::ProducerToken> token;
  };

  // The calling thread's among those for outside; threads get them in turn.
  static uint32_t OwnProducer();

  void Push(Producer& producer, void* const* items, size_t count) {
    for (size_t i = 0; i < count; ++i) ReleaseItem(items[i]);
    // Sequentially consistent: the pusher goes on to look for sleepers.
    count_.fetch_add(count, std::memory_order_seq_cst);
    const std::lock_guard lock(producer.mutex);
    WEFT_CHECK(queue_.enqueue_bulk(*producer.token, items, count),
               "out of memory: a task cannot be queued");
  }

#if defined(WEFT_INJECTOR_TSAN)
  static void ReleaseItem(void* item) { __tsan_release(item); }
  static void AcquireItem(void* item) { __tsan_acquire(item); }
#else
  static void ReleaseItem(void*) {}
  static void AcquireItem(void*) {}
#endif

  Queue queue_;
  std::array<Producer, kProducers> producers_;
  alignas(64) std::atomic<size_t> count_{0};
};

}  // namespace weft::executor_internal

#undef WEFT_INJECTOR_TSAN

#endif  // WEFT_EXECUTOR_INJECTOR_H_
