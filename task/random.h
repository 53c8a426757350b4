// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Random: small, fast, seedable random numbers for scheduling decisions.
//
// The order of a Select, the victim of a steal: everything in weft that is
// random draws from the Random of its environment, so that one seed decides
// them all. Not for secrets. The generator is SplitMix64 (Steele, Lea, Flood:
// "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
//
// Thread safety: one thread at a time.
#ifndef WEFT_TASK_RANDOM_H_
#define WEFT_TASK_RANDOM_H_

#include <cstdint>

namespace weft {

class Random {
 public:
  using result_type = uint64_t;

  explicit constexpr Random(uint64_t seed) : state_(seed) {}

  constexpr uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound) up to a bias of bound / 2^32. Requires: bound > 0.
  constexpr uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32);
  }

  // The calling thread's own generator, seeded differently in every thread and
  // run. Valid until the thread ends.
  static Random& OfThread();

 private:
  uint64_t state_;
};

}  // namespace weft

#endif  // WEFT_TASK_RANDOM_H_
