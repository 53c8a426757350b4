// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PlaceLoan: lends a runner's place while its thread blocks. Internal; see
// executor/block_in_place.h.
//
// Thread safety: one thread, in a poll.
#ifndef WEFT_EXECUTOR_PLACE_LOAN_H_
#define WEFT_EXECUTOR_PLACE_LOAN_H_

#include "weft/executor/runner.h"
#include "weft/task/environment.h"

namespace weft::executor_internal {

// While it exists, the calling thread is no runner: what it had to run is the
// others', and somebody stands in for it. CHECK-fails if it is none now.
class [[nodiscard]] PlaceLoan {
 public:
  PlaceLoan();
  PlaceLoan(const PlaceLoan&) = delete;
  PlaceLoan& operator=(const PlaceLoan&) = delete;
  ~PlaceLoan();

 private:
  void CallStandIn();

  Runner& runner_;
  const Environment environment_;  // without the lent driver
  const EnvironmentScope scope_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_PLACE_LOAN_H_
