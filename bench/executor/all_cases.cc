// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/all_cases.h"

#include "weft/bench/executor/compute_cases.h"
#include "weft/bench/executor/current_thread_cases.h"
#include "weft/bench/executor/latency_cases.h"
#include "weft/bench/executor/main_thread_cases.h"
#include "weft/bench/executor/outside_cases.h"
#include "weft/bench/executor/scale_cases.h"
#include "weft/bench/executor/scheduler_cases.h"

namespace weft::bench {

std::vector<Case> AllExecutorCases() {
  std::vector<Case> all;
  for (auto list : {SchedulerCases, CurrentThreadCases, OutsideCases,
                    MainThreadCases, ComputeCases, ScaleCases, LatencyCases}) {
    const auto cases = list();
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace weft::bench
