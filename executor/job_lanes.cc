// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/job_lanes.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "weft/executor/job_list.h"
#include "weft/task/offload.h"

namespace weft::executor_internal {

void JobLanes::Push(Job job) {
  OffloadJob& metadata = job.metadata();
  metadata.waiting = true;
  waiting_[Index(metadata.lane)].PushBack(std::move(job));
}

std::optional<JobLanes::Job> JobLanes::TakeOut(OffloadJob& job) {
  if (!job.waiting) return std::nullopt;
  job.waiting = false;
  return waiting_[Index(job.lane)].Remove(job);
}

std::optional<JobLanes::Job> JobLanes::TakeAny() {
  for (JobList& jobs : waiting_) {
    if (jobs.size() == 0) continue;
    Job job = jobs.PopFront();
    job.metadata().waiting = false;
    return job;
  }
  return std::nullopt;
}

std::optional<JobLanes::Job> JobLanes::TakeReady(size_t& turn) {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    turn = (turn + 1) % waiting_.size();
    if (Ready(turn) == 0) continue;
    Job job = waiting_[turn].PopFront();
    job.metadata().waiting = false;
    ++running_[turn];
    return job;
  }
  return std::nullopt;
}

size_t JobLanes::CountWaiting() const {
  size_t count = 0;
  for (const JobList& jobs : waiting_) count += jobs.size();
  return count;
}

size_t JobLanes::CountReady() const {
  size_t count = 0;
  for (size_t lane = 0; lane < waiting_.size(); ++lane) count += Ready(lane);
  return count;
}

}  // namespace weft::executor_internal
