// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WeakerAtomics: RelacyAtomics with one kind of memory order taken away, to see
// that a model notices.
//
//   EXPECT_TRUE(Holds<Model<RelacyAtomics>>());
//   EXPECT_FALSE(Holds<Model<WeakerAtomics<Weaken::kRelease>>>());
//
// Include it after every other header, as relacy_atomics.h.
#ifndef WEFT_TESTS_KIT_WEAKER_ATOMICS_H_
#define WEFT_TESTS_KIT_WEAKER_ATOMICS_H_

#include <atomic>

#include "weft/tests/kit/relacy_atomics.h"

namespace weft {

enum class Weaken {
  kAcquire,  // acquire becomes relaxed, acq_rel becomes release
  kRelease,  // release becomes relaxed, acq_rel becomes acquire
};

template <Weaken kWeaken>
struct WeakerAtomics {
  static void Yield() { RelacyAtomics::Yield(); }

  template <class T>
  using Plain = RelacyAtomics::Plain<T>;

  template <class T>
  class Atomic {
   public:
    Atomic() = default;
    Atomic(T value) : atomic_(value) {}  // NOLINT: implicit, as std::atomic's

    T load(std::memory_order order) const { return atomic_.load(Less(order)); }
    void store(T value, std::memory_order order) {
      atomic_.store(value, Less(order));
    }
    T exchange(T value, std::memory_order order) {
      return atomic_.exchange(value, Less(order));
    }
    T fetch_add(T value, std::memory_order order) {
      return atomic_.fetch_add(value, Less(order));
    }
    T fetch_sub(T value, std::memory_order order) {
      return atomic_.fetch_sub(value, Less(order));
    }
    T fetch_or(T value, std::memory_order order) {
      return atomic_.fetch_or(value, Less(order));
    }
    T fetch_and(T value, std::memory_order order) {
      return atomic_.fetch_and(value, Less(order));
    }
    bool compare_exchange_strong(T& expected, T value,
                                 std::memory_order success,
                                 std::memory_order failure) {
      const std::memory_order less = Less(success);
      // Relacy wants a failure order that is not the stronger one.
      const bool acquires = less != std::memory_order::relaxed &&
                            less != std::memory_order::release;
      return atomic_.compare_exchange_strong(
          expected, value, less,
          acquires ? Less(failure) : std::memory_order::relaxed);
    }

   private:
    static std::memory_order Less(std::memory_order order) {
      constexpr bool kAcquires = kWeaken != Weaken::kAcquire;
      switch (order) {
        case std::memory_order::acquire:
          return kAcquires ? order : std::memory_order::relaxed;
        case std::memory_order::release:
          return kAcquires ? std::memory_order::relaxed : order;
        case std::memory_order::acq_rel:
          return kAcquires ? std::memory_order::acquire
                           : std::memory_order::release;
        default:
          return order;
      }
    }

    RelacyAtomics::Atomic<T> atomic_;
  };
};

}  // namespace weft

#endif  // WEFT_TESTS_KIT_WEAKER_ATOMICS_H_
