// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ModelQueue: all queues of an executor, as the models of its idle protocol have them:
// the number of tasks.
//
// Include it after every other header: it includes Relacy.
//
// Thread safety: for the threads of a model.
#ifndef WEFT_TESTS_EXECUTOR_MODEL_QUEUE_H_
#define WEFT_TESTS_EXECUTOR_MODEL_QUEUE_H_

#include <atomic>

// After every other header.
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::executor_internal {

class ModelQueue {
 public:
  void Emplace() { size_.Emplace(0); }
  void Destroy() { size_.Destroy(); }

  void Push(int tasks = 1) {
    size_->fetch_add(tasks, std::memory_order::seq_cst);
  }
  bool HasWork() { return size_->load(std::memory_order::seq_cst) != 0; }
  bool Take() {
    int size = size_->load(std::memory_order::relaxed);
    while (size != 0) {
      if (size_->compare_exchange_strong(size, size - 1,
                                         std::memory_order::acq_rel,
                                         std::memory_order::relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  Lazy<RelacyAtomics::Atomic<int>> size_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_TESTS_EXECUTOR_MODEL_QUEUE_H_
