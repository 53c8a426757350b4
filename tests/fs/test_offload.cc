// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/fs/test_offload.h"

#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::fs {

ThreadOffload::ThreadOffload() : thread_([this] { Loop(); }) {}

ThreadOffload::~ThreadOffload() {
  std::deque<Runnable<OffloadJob>> dropped;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  thread_.join();
}

void ThreadOffload::Submit(Runnable<OffloadJob> job) {
  {
    std::lock_guard lock(mutex_);
    ++jobs_;
    queue_.push_back(std::move(job));
  }
  changed_.notify_all();
}

size_t ThreadOffload::jobs() const {
  std::lock_guard lock(mutex_);
  return jobs_;
}

void ThreadOffload::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Runnable<OffloadJob> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    std::move(job).Run();
    lock.lock();
  }
}

void ManualOffload::Submit(Runnable<OffloadJob> job) {
  queue_.push_back(std::move(job));
}

bool ManualOffload::RunOne() {
  if (queue_.empty()) return false;
  Runnable<OffloadJob> job = std::move(queue_.front());
  queue_.pop_front();
  std::move(job).Run();
  return true;
}

}  // namespace weft::fs
