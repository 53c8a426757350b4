// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Readiness: what a reactor knows about one descriptor, in one atomic word.
//
// From bit 0:
//
//   kReadable     A read may get somewhere.           set: reactor
//   kWritable     A write may get somewhere.          set: reactor
//   kReadClosed   The peer will send nothing more.    set: reactor
//   kWriteClosed  The peer takes nothing more.        set: reactor
//   kUrgent       There was out-of-band data, so a short read does not mean
//                 that the descriptor is drained.     set: reactor, for ever
//   kAlways       The kernel cannot watch it (a regular file): always ready.
//   kClosed       Its owner closed it.                set: owner, for ever
//   kShutdown     The reactor is gone.                set: reactor, for ever
//   8..31         Tick: grows with each event, so that whoever clears a bit
//                 because a call would have blocked clears no later event.
//   32..63        Generation: which of the descriptors that used this record,
//                 one after the other, is meant. An event that carries another
//                 generation changes nothing.
//
// How a bit is cleared: Load(), make the system call, and if it would have
// blocked ClearBlocked(snapshot); this does nothing if an event came after the
// Load. A short read or write of a stream proves the same without the second
// call: ClearDrained(snapshot); it leaves the closed bits, since the end of the
// stream still has to be read.
//
// Why no event is lost: an edge that the call could not see happens after it,
// so its Set() comes after the Load(). Either that Set() is before the clear,
// which then sees another tick, or after it, and the bit stays.
//
// Thread safety: all methods from any thread, except Reset.
#ifndef WEFT_IO_READINESS_H_
#define WEFT_IO_READINESS_H_

#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::io {

enum class Direction { kRead, kWrite };

namespace io_internal {

enum ReadinessBits : uint32_t {
  kReadable = 1 << 0,
  kWritable = 1 << 1,
  kReadClosed = 1 << 2,
  kWriteClosed = 1 << 3,
  kUrgent = 1 << 4,
  kAlways = 1 << 5,
  kClosed = 1 << 6,
  kShutdown = 1 << 7,
};
inline constexpr uint32_t kReadinessMask = 0xff;

// The bits that make `direction` ready.
constexpr uint32_t ReadyBits(Direction direction) {
  constexpr uint32_t both = kAlways | kClosed | kShutdown;
  return direction == Direction::kRead ? kReadable | kReadClosed | both
                                       : kWritable | kWriteClosed | both;
}

// The word at one moment.
class ReadinessSnapshot {
 public:
  explicit constexpr ReadinessSnapshot(uint64_t word) : word_(word) {}

  constexpr bool Has(uint32_t bits) const { return (word_ & bits) != 0; }
  constexpr bool IsReady(Direction direction) const {
    return Has(ReadyBits(direction));
  }
  constexpr uint32_t generation() const {
    return static_cast<uint32_t>(word_ >> 32);
  }
  constexpr uint64_t word() const { return word_; }

 private:
  uint64_t word_;
};

// `Atomics` names the atomic template, so that a model checker can run this
// code.
template <class Atomics = task_internal::StdAtomics>
class BasicReadiness {
 public:
  // `word` is for tests.
  explicit BasicReadiness(uint64_t word = 0) : word_(word) {}

  // Acquire: what the setter of a bit did before is seen by who finds it set.
  ReadinessSnapshot Load() const {
    return ReadinessSnapshot(word_.load(std::memory_order_acquire));
  }

  // Starts the next generation, with nothing ready. Requires: no other thread
  // uses the record; late events may.
  void Reset() {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    // Release: an event of the new generation is taken by a thread that read
    // the word of this store or a later one.
    word_.store(((word >> 32) + 1) << 32, std::memory_order_release);
  }

  // Sets `bits` and counts a tick. False, without effect, if the record has
  // another generation by now.
  bool Set(uint32_t generation, uint32_t bits) {
    // Relaxed: the exchange decides.
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (ReadinessSnapshot(word).generation() != generation) return false;
      const uint64_t tick = (word + kTick) & kTickMask;
      const uint64_t next = (word & ~kTickMask) | tick | bits;
      if (Exchange(word, next)) return true;
    }
  }

  // A call in `direction` that began after `seen` was loaded would have
  // blocked.
  void ClearBlocked(ReadinessSnapshot seen, Direction direction) {
    constexpr uint32_t read = kReadable | kReadClosed;
    constexpr uint32_t write = kWritable | kWriteClosed;
    Clear(seen, direction == Direction::kRead ? read : write);
  }

  // A call in `direction` that began after `seen` was loaded moved fewer bytes
  // than it could, on a byte stream.
  void ClearDrained(ReadinessSnapshot seen, Direction direction) {
    if (seen.Has(kUrgent)) return;
    Clear(seen, direction == Direction::kRead ? kReadable : kWritable);
  }

 private:
  static constexpr uint64_t kTick = uint64_t{1} << 8;
  static constexpr uint64_t kTickMask = 0xffffff00;

  void Clear(ReadinessSnapshot seen, uint32_t bits) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    // Other bits may have changed meanwhile, but not by an event.
    constexpr uint64_t same = ~uint64_t{kReadinessMask};
    while ((word & same) == (seen.word() & same)) {
      if (Exchange(word, word & ~uint64_t{bits})) return;
    }
  }

  // On failure loads `word`. Release: see Load; acquire: keeps the chain from
  // earlier setters to later readers.
  bool Exchange(uint64_t& word, uint64_t next) {
    return word_.compare_exchange_strong(word, next, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  typename Atomics::template Atomic<uint64_t> word_;
};

using Readiness = BasicReadiness<>;

}  // namespace io_internal
}  // namespace weft::io

#endif  // WEFT_IO_READINESS_H_
