// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Offloads for tests: one with a thread, one that runs jobs when told to.
#ifndef WEFT_TESTS_FS_TEST_OFFLOAD_H_
#define WEFT_TESTS_FS_TEST_OFFLOAD_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::fs {

// Runs jobs one after the other on a thread of its own. Destruction waits for
// the one that is running and drops the others.
class ThreadOffload final : public Offload {
 public:
  ThreadOffload();
  ~ThreadOffload() override;

  void Submit(Runnable<OffloadJob> job) override;
  // Jobs submitted so far.
  size_t jobs() const;

 private:
  void Loop();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Runnable<OffloadJob>> queue_;
  size_t jobs_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

// Keeps jobs until RunOne(). Single-threaded.
class ManualOffload final : public Offload {
 public:
  void Submit(Runnable<OffloadJob> job) override;
  // Runs the oldest job; false if there is none.
  bool RunOne();
  // Drops all jobs, as a pool that shuts down.
  void DropAll() { queue_.clear(); }
  size_t waiting() const { return queue_.size(); }

 private:
  std::deque<Runnable<OffloadJob>> queue_;
};

}  // namespace weft::fs

#endif  // WEFT_TESTS_FS_TEST_OFFLOAD_H_
