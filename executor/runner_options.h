// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RunnerOptions: how a thread takes part in an Executor.
//
// Says where the thread is, and from whom it steals first. Where a machine has
// several caches or memory nodes, tasks from near threads cost less:
//
//   // On each thread of node 1:
//   executor.Run(RunnerOptions().At(1).StealFrom({1, 0}), stop.Wait());
//
// Thread safety: none.
#ifndef WEFT_EXECUTOR_RUNNER_OPTIONS_H_
#define WEFT_EXECUTOR_RUNNER_OPTIONS_H_

#include <span>
#include <utility>
#include <vector>

namespace weft {

class RunnerOptions {
 public:
  // A number of the caller's choice for where the thread is: a memory node, a
  // cache. 0 by default.
  RunnerOptions& At(int location) {
    location_ = location;
    return *this;
  }
  // From whom the thread steals first: from threads at the first of these
  // locations, then at the second, and so on, then from any. Among threads at one
  // location it begins at a random one; by default all are alike.
  RunnerOptions& StealFrom(std::vector<int> locations) {
    steal_order_ = std::move(locations);
    return *this;
  }

  int location() const { return location_; }
  std::span<const int> steal_order() const { return steal_order_; }

 private:
  int location_ = 0;
  std::vector<int> steal_order_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_RUNNER_OPTIONS_H_
