// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// EventSource: what may happen in a simulation beside polls of tasks.
//
// A DeterministicExecutor chooses, step by step, among the tasks that are woken and
// the events that its sources offer: a packet arrives, a job of a blocking pool
// runs, a disk fails. A source keeps them and makes the chosen one happen.
//
//   class Mail final : public EventSource {
//     size_t ready() const override { return letters_.size(); }
//     void Happen(size_t which) override { Deliver(Take(which)); }
//     …
//   };
//   executor.AddSource(mail);
//
// Thread safety: called by the thread that runs the executor.
// Lifetime: removed from the executor before it is destroyed.
#ifndef WEFT_EXECUTOR_EVENT_SOURCE_H_
#define WEFT_EXECUTOR_EVENT_SOURCE_H_

#include <cstddef>
#include <string>

#include "weft/task/instant.h"

namespace weft {

class EventSource {
 public:
  virtual ~EventSource() = default;

  // How many events may happen now, in any order.
  virtual size_t ready() const = 0;

  // Makes one of them happen, which wakes tasks but runs none. `which` < ready().
  virtual void Happen(size_t which) = 0;

  // The moment on the executor's clock at which one more becomes ready by itself,
  // after now; Infinite() if none does. Time goes there when nothing else can
  // happen.
  virtual Instant NextTime() const { return Instant::Infinite(); }

  // One of the ready ones, for the trace: "a packet from a to b". The same in each
  // run, so without addresses.
  virtual std::string Describe(size_t which) const = 0;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EVENT_SOURCE_H_
