// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/simulated_offload.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

// Numbered from 1 on, in the order in which they came.
class SimulatedOffload::Waiting final : public OffloadJob::Queue {
 public:
  struct Job {
    uint64_t number;
    Runnable<OffloadJob> runnable;
  };

  void GiveUp(OffloadJob& job) override {
    const auto it =
        std::find_if(jobs.begin(), jobs.end(), [&](const Job& waiting) {
          return &waiting.runnable.metadata() == &job;
        });
    if (it != jobs.end()) Take(it);
  }

  // Out of the list before anything of the user's is called.
  Job Take(std::deque<Job>::iterator it) {
    Job job = std::move(*it);
    jobs.erase(it);
    return job;
  }

  std::deque<Job> jobs;
  uint64_t submitted = 0;
  bool closed = false;
};

SimulatedOffload::SimulatedOffload() : waiting_(std::make_shared<Waiting>()) {}

SimulatedOffload::~SimulatedOffload() { Close(); }

void SimulatedOffload::Submit(Runnable<OffloadJob> runnable) {
  if (waiting_->closed) return;
  runnable.metadata().queue = waiting_;
  waiting_->jobs.push_back({++waiting_->submitted, std::move(runnable)});
}

size_t SimulatedOffload::ready() const { return waiting_->jobs.size(); }

void SimulatedOffload::Happen(size_t which) {
  const auto it = waiting_->jobs.begin() + static_cast<std::ptrdiff_t>(which);
  std::move(waiting_->Take(it).runnable).Run();
}

std::string SimulatedOffload::Describe(size_t which) const {
  const Waiting::Job& job = waiting_->jobs[which];
  std::string text = absl::StrCat("job ", job.number);
  if (!job.runnable.name().empty()) {
    absl::StrAppend(&text, " '", std::string(job.runnable.name()), "'");
  }
  return text;
}

void SimulatedOffload::Clear() {
  while (!waiting_->jobs.empty()) waiting_->Take(waiting_->jobs.begin());
}

void SimulatedOffload::Close() {
  waiting_->closed = true;
  Clear();
}

}  // namespace weft
