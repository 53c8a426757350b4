// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JobLanes: the jobs that wait for a thread of a BlockingPool, and how many of
// each lane are run. Internal.
//
// Each lane has a queue, the oldest job first, and a limit of how many of its
// jobs are run at a time. Lanes take turns: who looks for a job begins behind the
// lane that it served last, and passes over one that is at its limit.
//
// Thread safety: one thread at a time.
// Dropping: no job may wait.
#ifndef WEFT_EXECUTOR_JOB_LANES_H_
#define WEFT_EXECUTOR_JOB_LANES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "weft/executor/job_list.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::executor_internal {

class JobLanes {
 public:
  using Job = Runnable<OffloadJob>;
  using Limits = std::array<int, kOffloadLanes>;

  // Each limit is at least 1.
  explicit JobLanes(const Limits& limits) : limits_(limits) {}
  JobLanes(const JobLanes&) = delete;
  JobLanes& operator=(const JobLanes&) = delete;

  void Push(Job job);
  // The job of this metadata, if it waits.
  std::optional<Job> TakeOut(OffloadJob& job);
  // Any that waits, whether or not it may be run now.
  std::optional<Job> TakeAny();

  // A job that may be run now. The caller runs it and then says Finished().
  // `turn` is the caller's own: the lane it served last, 0 at first.
  std::optional<Job> TakeReady(size_t& turn);
  void Finished(OffloadLane lane) { --running_[Index(lane)]; }

  size_t CountWaiting() const;
  // How many of them may be run now.
  size_t CountReady() const;
  // The same of one lane; how many more of it may be run than are, and are run.
  size_t CountWaiting(OffloadLane lane) const {
    return waiting_[Index(lane)].size();
  }
  size_t CountPlaces(OffloadLane lane) const { return Places(Index(lane)); }
  int CountRunning(OffloadLane lane) const { return running_[Index(lane)]; }

 private:
  static constexpr size_t Index(OffloadLane lane) {
    return static_cast<size_t>(lane);
  }
  size_t Places(size_t lane) const {
    return static_cast<size_t>(limits_[lane] - running_[lane]);
  }
  size_t Ready(size_t lane) const {
    return std::min(waiting_[lane].size(), Places(lane));
  }

  const Limits limits_;
  std::array<JobList, kOffloadLanes> waiting_;
  std::array<int, kOffloadLanes> running_{};
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_JOB_LANES_H_
