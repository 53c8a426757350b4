// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a Relacy model of production code needs: the atomics policy that the
// code's templates take, a place for objects that are made anew for each
// execution, and the run itself.
//
//   struct Model : rl::test_suite<Model, 2> {
//     Lazy<BasicFlag<RelacyAtomics>> flag;
//     void before() { flag.Emplace(); }
//     void after() { flag.Destroy(); }
//     void thread(unsigned index) { … RL_ASSERT(flag->IsSet()); … }
//   };
//   EXPECT_TRUE(Holds<Model>());
//
// Include it after every other header: it includes Relacy, which makes macros
// of functions. For targets made with weft_cc_model_test.
//
// Thread safety: for the threads of a model.
#ifndef WEFT_TESTS_KIT_RELACY_ATOMICS_H_
#define WEFT_TESTS_KIT_RELACY_ATOMICS_H_

#include <atomic>
#include <cstdlib>
#include <ostream>

#include "relacy/relacy.hpp"
#undef Sleep
#undef delete
#undef new

namespace weft {

struct RelacyAtomics {
  // While another thread has to do something.
  static void Yield() { rl::yield(1, RL_INFO); }

  // What production code uses of std::atomic<T>.
  template <class T>
  class Atomic {
   public:
    // Without a value; must be stored to before it is read.
    Atomic() = default;
    Atomic(T value) {  // NOLINT: implicit, as std::atomic's
      store(value, std::memory_order::relaxed);
    }

    T load(std::memory_order order = std::memory_order::seq_cst) const {
      return atomic_(RL_INFO).load(Order(order));
    }
    void store(T value, std::memory_order order = std::memory_order::seq_cst) {
      atomic_(RL_INFO).store(value, Order(order));
    }
    T exchange(T value, std::memory_order order = std::memory_order::seq_cst) {
      return atomic_(RL_INFO).exchange(value, Order(order));
    }
    T fetch_add(T value, std::memory_order order = std::memory_order::seq_cst) {
      return atomic_(RL_INFO).fetch_add(value, Order(order));
    }
    T fetch_sub(T value, std::memory_order order = std::memory_order::seq_cst) {
      return atomic_(RL_INFO).fetch_sub(value, Order(order));
    }
    T fetch_or(T value, std::memory_order order = std::memory_order::seq_cst) {
      return atomic_(RL_INFO).fetch_or(value, Order(order));
    }
    T fetch_and(T value, std::memory_order order = std::memory_order::seq_cst) {
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

  // A plain T, each access of which Relacy checks.
  template <class T>
  class Plain {
   public:
    Plain() = default;
    Plain(T value) { var_(RL_INFO) = value; }  // NOLINT: implicit, as a T
    Plain& operator=(T value) {
      var_(RL_INFO) = value;
      return *this;
    }
    operator T() const {  // NOLINT: implicit, as a T
      return static_cast<T>(var_(RL_INFO));
    }

   private:
    mutable rl::var<T> var_;
  };
};

// What production code uses of std::mutex.
class RelacyMutex {
 public:
  void lock() { mutex_.lock(RL_INFO); }
  void unlock() { mutex_.unlock(RL_INFO); }

 private:
  rl::mutex mutex_;
};

// Holds a T from Emplace(), in the model's before(), to Destroy(), in its
// after().
template <class T>
class Lazy {
 public:
  template <class... Args>
  void Emplace(Args... args) {
    value_ = ::new (memory_) T(args...);
  }
  void Destroy() { value_->~T(); }
  T* operator->() { return value_; }
  T& operator*() { return *value_; }

 private:
  alignas(T) char memory_[sizeof(T)];
  T* value_ = nullptr;
};

// True if none of the executions that were tried breaks the model or hangs;
// they are random, with a fixed seed. With WEFT_LONG=1 fifty times as many.
template <class Model>
bool Holds(unsigned executions = 20'000) {
  // Prints nothing while it runs: what is allocated then comes from Relacy's
  // heap and would have to be freed there.
  std::ostream output(nullptr);
  rl::test_params params;
  params.iteration_count =
      std::getenv("WEFT_LONG") != nullptr ? 50 * executions : executions;
  params.output_stream = &output;
  params.progress_stream = &output;
  return rl::simulate<Model>(params);
}

}  // namespace weft

#endif  // WEFT_TESTS_KIT_RELACY_ATOMICS_H_
