// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JobList: jobs of a BlockingPool in a row, without memory of its own; and
// DestroyJob(). Internal.
//
// Thread safety: one thread at a time.
// Dropping: must be empty.
#ifndef WEFT_EXECUTOR_JOB_LIST_H_
#define WEFT_EXECUTOR_JOB_LIST_H_

#include <cstddef>
#include <utility>

#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::executor_internal {

class JobList {
 public:
  constexpr JobList() = default;
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;

  size_t size() const { return size_; }

  void PushBack(Runnable<OffloadJob> job) {
    OffloadJob& links = job.metadata();
    links.raw = std::move(job).IntoRaw();
    links.previous = last_;
    links.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &links;
    last_ = &links;
    ++size_;
  }
  // Requires: it is in the list.
  Runnable<OffloadJob> Remove(OffloadJob& links) {
    (links.previous != nullptr ? links.previous->next : first_) = links.next;
    (links.next != nullptr ? links.next->previous : last_) = links.previous;
    --size_;
    return Runnable<OffloadJob>::FromRaw(std::exchange(links.raw, nullptr));
  }
  // Requires: size() != 0.
  Runnable<OffloadJob> PopFront() { return Remove(*first_); }

 private:
  OffloadJob* first_ = nullptr;  // the oldest
  OffloadJob* last_ = nullptr;
  size_t size_ = 0;
};

// Destroys a job. It may own the handle of another one that waits, whose job is
// destroyed by this in turn, and so on for long: that takes little stack. Thread
// safety: any thread.
void DestroyJob(Runnable<OffloadJob> job);

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_JOB_LIST_H_
