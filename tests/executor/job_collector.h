// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JobCollector: an Offload that keeps its jobs, for tests that need some.
//
// Thread safety: one thread.
#ifndef WEFT_TESTS_EXECUTOR_JOB_COLLECTOR_H_
#define WEFT_TESTS_EXECUTOR_JOB_COLLECTOR_H_

#include <utility>
#include <vector>

#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::executor_testing {

class JobCollector final : public Offload {
 public:
  void Submit(Runnable<OffloadJob> job) override {
    jobs.push_back(std::move(job));
  }
  // The newest.
  Runnable<OffloadJob> Take() {
    Runnable<OffloadJob> job = std::move(jobs.back());
    jobs.pop_back();
    return job;
  }

  std::vector<Runnable<OffloadJob>> jobs;
};

}  // namespace weft::executor_testing

#endif  // WEFT_TESTS_EXECUTOR_JOB_COLLECTOR_H_
