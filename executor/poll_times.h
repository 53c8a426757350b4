// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PollTimes: the histograms of a runner; stamping a task and running one that has a
// stamp. Internal.
//
// Thread safety: Run() by one thread at a time, RunShared() by any but not beside
// Run(); the histograms are read from any. StampSampled: as the sampler, by the owner
// of the task's Runnable.
#ifndef WEFT_EXECUTOR_POLL_TIMES_H_
#define WEFT_EXECUTOR_POLL_TIMES_H_

#include <cstdint>
#include <utility>

#include "weft/executor/poll_sampler.h"
#include "weft/executor/task_stamp.h"
#include "weft/task/instant.h"
#include "weft/task/log_histogram.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {

struct PollTimes {
  LogHistogram poll;     // how long a poll took
  LogHistogram latency;  // from when the task was made ready until the poll

  // Calls run(), which polls the task that had `stamp`; returns how long it took,
  // in nanoseconds.
  template <class RunFn>
  int64_t Run(TaskStamp stamp, RunFn run) {
    return Time(stamp, std::move(run), &LogHistogram::Add);
  }
  template <class RunFn>
  int64_t RunShared(TaskStamp stamp, RunFn run) {
    return Time(stamp, std::move(run), &LogHistogram::AddShared);
  }

 private:
  template <class RunFn>
  int64_t Time(TaskStamp stamp, RunFn run,
               void (LogHistogram::*add)(int64_t, uint64_t)) {
    const Instant begin = Instant::Now();
    (latency.*add)(stamp.Age(begin), stamp.Weight());
    run();
    const int64_t took = Instant::Now().nanoseconds() - begin.nanoseconds();
    (poll.*add)(took, stamp.Weight());
    return took;
  }
};

// Stamps a task that is made ready, for 2^shift polls. Apart, for the sake of the
// code around it.
[[gnu::noinline]] inline void PutStamp(SpawnedTask& task, int shift) {
  TaskStamp(Instant::Now(), shift).PutOn(task);
}

// Stamps a task that is made ready if its poll is to be timed. Else it has no stamp:
// one may have been left by a runner that polled it without knowing of the histograms
// yet.
inline void StampSampled(PollSampler& sampler, SpawnedTask& task) {
  const int shift = sampler.Next();
  if (shift != PollSampler::kSkip) return PutStamp(task, shift);
  TaskStamp::Drop(task);
}

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_POLL_TIMES_H_
