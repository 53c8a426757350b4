// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ThreadOffload: the simplest Offload, for tests: a thread per job.
//
// Thread safety: all methods from any thread.
// Dropping: waits for all jobs.
#ifndef WEFT_TESTS_KIT_THREAD_OFFLOAD_H_
#define WEFT_TESTS_KIT_THREAD_OFFLOAD_H_

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

class ThreadOffload final : public Offload {
 public:
  ThreadOffload() = default;
  ThreadOffload(const ThreadOffload&) = delete;
  ThreadOffload& operator=(const ThreadOffload&) = delete;
  ~ThreadOffload() override { Join(); }

  void Submit(Runnable<OffloadJob> job) override {
    std::lock_guard lock(mutex_);
    lanes_.push_back(job.metadata().lane);
    threads_.emplace_back(
        [job = std::move(job)]() mutable { std::move(job).Run(); });
  }

  // Waits for the jobs submitted so far.
  void Join() {
    std::vector<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  // The lanes of all jobs, in order.
  std::vector<OffloadLane> lanes() const {
    std::lock_guard lock(mutex_);
    return lanes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::vector<OffloadLane> lanes_;
};

}  // namespace weft

#endif  // WEFT_TESTS_KIT_THREAD_OFFLOAD_H_
