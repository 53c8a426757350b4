// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a Relacy model of production code needs: the atomics policy, a place for
// objects that Relacy constructs anew for each execution, and the run itself.
//
// Include it after every other header: it includes Relacy, which makes macros
// of keywords and functions.
//
// Thread safety: for the threads of a Relacy model.
#ifndef WEFT_TESTS_IO_RELACY_MODEL_H_
#define WEFT_TESTS_IO_RELACY_MODEL_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ostream>

#include "relacy/relacy.hpp"
#undef new
#undef delete

namespace weft {

struct RelacyAtomics {
  // What production code uses of std::atomic<T>.
  template <class T>
  class Atomic {
   public:
    explicit Atomic(T value) { atomic_(RL_INFO).store(value, rl::mo_relaxed); }

    T load(std::memory_order order) const {
      return atomic_(RL_INFO).load(Order(order));
    }
    void store(T value, std::memory_order order) {
      atomic_(RL_INFO).store(value, Order(order));
    }
    T exchange(T value, std::memory_order order) {
      return atomic_(RL_INFO).exchange(value, Order(order));
    }
    T fetch_add(T value, std::memory_order order) {
      return atomic_(RL_INFO).fetch_add(value, Order(order));
    }
    T fetch_sub(T value, std::memory_order order) {
      return atomic_(RL_INFO).fetch_sub(value, Order(order));
    }
    T fetch_or(T value, std::memory_order order) {
      return atomic_(RL_INFO).fetch_or(value, Order(order));
    }
    T fetch_and(T value, std::memory_order order) {
      return atomic_(RL_INFO).fetch_and(value, Order(order));
    }
    bool compare_exchange_strong(T& expected, T value,
                                 std::memory_order success,
                                 std::memory_order failure) {
      return atomic_(RL_INFO).compare_exchange_strong(
          expected, value, Order(success), Order(failure));
    }

   private:
    static rl::memory_order Order(std::memory_order order) {
      switch (order) {
        case std::memory_order::relaxed:
          return rl::mo_relaxed;
        case std::memory_order::acquire:
        case std::memory_order::consume:
          return rl::mo_acquire;
        case std::memory_order::release:
          return rl::mo_release;
        case std::memory_order::acq_rel:
          return rl::mo_acq_rel;
        case std::memory_order::seq_cst:
          return rl::mo_seq_cst;
      }
      return rl::mo_seq_cst;
    }

    mutable rl::atomic<T> atomic_;
  };
};

// Holds a T from Emplace, in the model's before(), to Destroy, in its after().
template <class T>
class Lazy {
 public:
  void Emplace() { value_ = ::new (memory_) T(); }
  void Destroy() { value_->~T(); }
  T* operator->() { return value_; }

 private:
  alignas(T) char memory_[sizeof(T)];
  T* value_ = nullptr;
};

// True if no execution that was tried breaks the model. Long runs try more.
template <class Model>
bool Holds() {
  // Says nothing and allocates nothing: what is allocated while a model runs
  // comes from Relacy's heap and must be freed there.
  std::ostream output(nullptr);
  rl::test_params params;
  params.iteration_count =
      std::getenv("WEFT_LONG") != nullptr ? 5'000'000 : 50'000;
  params.output_stream = &output;
  params.progress_stream = &output;
  return rl::simulate<Model>(params);
}

}  // namespace weft

#endif  // WEFT_TESTS_IO_RELACY_MODEL_H_
