// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedOffload: jobs of SpawnBlocking() as events of a simulation.
//
// A job runs when it is chosen, on the thread that runs the simulation: first or
// last, after tasks that were woken later, but never beside one. It takes no virtual
// time.
//
// Thread safety: none.
// Dropping: destroys the jobs that have not run. A handle that is dropped before its
// job has run destroys the job.
#ifndef WEFT_EXECUTOR_SIMULATED_OFFLOAD_H_
#define WEFT_EXECUTOR_SIMULATED_OFFLOAD_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "weft/executor/event_source.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

class SimulatedOffload final : public Offload, public EventSource {
 public:
  SimulatedOffload();
  SimulatedOffload(const SimulatedOffload&) = delete;
  SimulatedOffload& operator=(const SimulatedOffload&) = delete;
  ~SimulatedOffload() override;

  void Submit(Runnable<OffloadJob> runnable) override;

  size_t ready() const override;
  void Happen(size_t which) override;
  std::string Describe(size_t which) const override;

  // Destroys the jobs that wait.
  void Clear();
  // The same; from now on jobs are destroyed at once.
  void Close();

 private:
  class Waiting;  // shared with the jobs, whose handles may outlive this

  const std::shared_ptr<Waiting> waiting_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_SIMULATED_OFFLOAD_H_
