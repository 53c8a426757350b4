// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SmallMutex: a lock of four bytes, for what is held during a few instructions.
// Internal: small, so that what has one of each is small.
//
//   kFree       nobody holds it
//   kHeld       somebody does
//   kContended  somebody does, and has to wake a thread that may sleep
//
// Who finds it held spins a little, then sets kContended and sleeps in the kernel
// while it is that. (Ulrich Drepper, "Futexes are tricky", mutex 2.)
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: a thread that has got it may destroy it, once it has unlocked it, while
// the one who unlocked it before is still returning: a wake at an address where
// nobody sleeps, or somebody else does, is harmless.
#ifndef WEFT_SYNC_SMALL_MUTEX_H_
#define WEFT_SYNC_SMALL_MUTEX_H_

#include <atomic>
#include <cstdint>

namespace weft::sync_internal {

class SmallMutex {
 public:
  constexpr SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  // As std::mutex's, so that its guards work.
  void lock() {
    if (!try_lock()) LockSlowly();
  }
  bool try_lock() {
    uint32_t word = kFree;
    // Acquire: what was done by whoever held it. Relaxed: it is not ours.
    return word_.compare_exchange_strong(word, kHeld, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() {
    // Release: pairs with the acquire of the next one.
    if (word_.exchange(kFree, std::memory_order_release) == kContended) {
      WakeOne();
    }
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kContended = 2;

  void LockSlowly();
  void WakeOne();

  std::atomic<uint32_t> word_{kFree};
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_SMALL_MUTEX_H_
