// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/job_list.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"
#include "weft/tests/executor/job_collector.h"

namespace weft::executor_internal {
namespace {

using executor_testing::JobCollector;
using Job = Runnable<OffloadJob>;

TEST(JobListTest, TheOldestComesFirst) {
  JobCollector collector;
  std::vector<int> ran;
  JobList list;
  for (int i = 0; i < 5; ++i) {
    collector.Run(OffloadLane::kGeneral, [&ran, i] { ran.push_back(i); })
        .Detach();
    list.PushBack(collector.Take());
  }
  EXPECT_EQ(list.size(), 5u);
  while (list.size() != 0) list.PopFront().Run();
  EXPECT_EQ(ran, (std::vector{0, 1, 2, 3, 4}));
}

TEST(JobListTest, AnyCanBeTakenOut) {
  JobCollector collector;
  std::vector<int> ran;
  std::vector<OffloadJob*> places;
  JobList list;
  for (int i = 0; i < 6; ++i) {
    collector.Run(OffloadLane::kGeneral, [&ran, i] { ran.push_back(i); })
        .Detach();
    Job job = collector.Take();
    places.push_back(&job.metadata());
    list.PushBack(std::move(job));
  }
  for (int i : {0, 2, 3, 5}) list.Remove(*places[i]).Run();
  while (list.size() != 0) list.PopFront().Run();
  EXPECT_EQ(ran, (std::vector{0, 2, 3, 5, 1, 4}));
}

// A job that owns another, and destroys it with itself.
class Link {
 public:
  Link(std::unique_ptr<Job> next, int* destroyed)
      : next_(std::move(next)), destroyed_(destroyed) {}
  Link(Link&& other) noexcept
      : next_(std::move(other.next_)),
        destroyed_(std::exchange(other.destroyed_, nullptr)) {}
  ~Link() {
    if (next_ != nullptr) DestroyJob(std::move(*next_));
    if (destroyed_ != nullptr) ++*destroyed_;
  }
  void operator()() {}

 private:
  std::unique_ptr<Job> next_;
  int* destroyed_;
};

// Destroys `length` jobs, each of which owns the next; returns how many went.
int DestroyChain(int length) {
  JobCollector collector;
  int destroyed = 0;
  std::unique_ptr<Job> next;
  for (int i = 0; i < length; ++i) {
    collector.Run(OffloadLane::kGeneral, Link(std::move(next), &destroyed))
        .Detach();
    next = std::make_unique<Job>(collector.Take());
  }
  DestroyJob(std::move(*next));
  return destroyed;
}

TEST(JobListTest, AChainOfJobsIsDestroyedWhole) {
  for (int length : {1, 2, 31, 32, 33, 34, 100}) {
    EXPECT_EQ(DestroyChain(length), length);
  }
}

TEST(JobListTest, ALongChainTakesLittleStack) {
  EXPECT_EQ(DestroyChain(100000), 100000);
}

}  // namespace
}  // namespace weft::executor_internal
