// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DescriptorUse: closes a descriptor only when nobody uses it any more.
//
// One word:
//   kClosed     Its owner closed it: no use begins any more.
//   kTaken      With kClosed: its owner takes the number back instead of
//               closing it, once the last use is over.
//   kFinished   The descriptor was closed, or is taken.
//   3..         Uses, each one a system call that is being made.
//
// kFinished is set by one thread, the one that then closes: the owner if there
// is no use, else whoever ends the last one. Both try, since each may think so;
// the exchange from exactly kClosed lets one win.
//
// Thread safety: all methods from any thread, except Reset.
#ifndef WEFT_IO_DESCRIPTOR_USE_H_
#define WEFT_IO_DESCRIPTOR_USE_H_

#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::io::io_internal {

// What the owner must do after Close().
enum class CloseResult {
  kAlreadyClosed,
  kCloseNow,    // Nobody uses the descriptor: close it.
  kCloseLater,  // The last use will.
};

// `Atomics` names the atomic template, so that a model checker can run this
// code.
template <class Atomics = task_internal::StdAtomics>
class BasicDescriptorUse {
 public:
  BasicDescriptorUse() : word_(0) {}

  // For the next descriptor. Relaxed: no other thread knows it yet.
  void Reset() { word_.store(0, std::memory_order_relaxed); }

  // False if closed; else the descriptor stays open until End().
  bool Begin() {
    // Relaxed: the exchange decides.
    uint32_t word = word_.load(std::memory_order_relaxed);
    do {
      if ((word & kClosed) != 0) return false;
      // Acquire: what follows uses the descriptor and must not start earlier.
    } while (!word_.compare_exchange_strong(word, word + kUse,
                                            std::memory_order_acquire,
                                            std::memory_order_relaxed));
    return true;
  }

  // True if the caller must now close the descriptor.
  [[nodiscard]] bool End() {
    // Release: this use is over before the descriptor is closed; acquire: so
    // are the others, if it is closed here.
    const uint32_t word = word_.fetch_sub(kUse, std::memory_order_acq_rel);
    return word == (kUse | kClosed) && Finish();
  }

  [[nodiscard]] CloseResult Close() {
    // Acquire-release: as End.
    const uint32_t word = word_.fetch_or(kClosed, std::memory_order_acq_rel);
    if ((word & kClosed) != 0) return CloseResult::kAlreadyClosed;
    return Finish() ? CloseResult::kCloseNow : CloseResult::kCloseLater;
  }

  // As Close, for an owner that keeps the descriptor. False if closed already.
  // Afterwards TryTake() until it is true.
  [[nodiscard]] bool BeginTake() {
    // Relaxed: the exchange decides.
    uint32_t word = word_.load(std::memory_order_relaxed);
    do {
      if ((word & kClosed) != 0) return false;
      // Acquire-release: as End.
    } while (!word_.compare_exchange_strong(word, word | kClosed | kTaken,
                                            std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return true;
  }
  // True once no use is left.
  [[nodiscard]] bool TryTake() {
    uint32_t word = kClosed | kTaken;
    // Acquire-release: as End.
    return word_.compare_exchange_strong(word, word | kFinished,
                                         std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // Acquire: what its closer did before is seen.
  bool IsClosed() const {
    return (word_.load(std::memory_order_acquire) & kClosed) != 0;
  }

 private:
  static constexpr uint32_t kClosed = 1;
  static constexpr uint32_t kTaken = 2;
  static constexpr uint32_t kFinished = 4;
  static constexpr uint32_t kUse = 8;

  bool Finish() {
    uint32_t word = kClosed;
    // Acquire-release: as End.
    return word_.compare_exchange_strong(word, kClosed | kFinished,
                                         std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  typename Atomics::template Atomic<uint32_t> word_;
};

using DescriptorUse = BasicDescriptorUse<>;

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_DESCRIPTOR_USE_H_
