// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/job_list.h"

#include <utility>

#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::executor_internal {
namespace {

// How many destructors of jobs may be inside each other. So far a job is
// destroyed before its handle's destructor returns; deeper ones are left to the
// innermost of these.
constexpr int kMaxDepth = 32;

struct Destruction {
  int depth = 0;     // calls of DestroyJob() on this thread
  JobList too_deep;  // for the innermost of them
};

[[gnu::noinline]] Destruction& ThisThread() {
  constinit static thread_local Destruction destruction;
  return destruction;
}

void Drop(Runnable<OffloadJob> job) { static_cast<void>(job); }

}  // namespace

void DestroyJob(Runnable<OffloadJob> job) {
  Destruction& thread = ThisThread();
  if (thread.depth == kMaxDepth) {
    thread.too_deep.PushBack(std::move(job));
    return;
  }
  ++thread.depth;
  Drop(std::move(job));
  while (thread.depth == kMaxDepth && thread.too_deep.size() != 0) {
    Drop(thread.too_deep.PopFront());
  }
  --thread.depth;
}

}  // namespace weft::executor_internal
