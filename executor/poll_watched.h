// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PollWatched: an executor whose polls a StuckTaskMonitor looks at. Internal.
//
// Thread safety: all methods, from any thread, as long as the executor lives.
#ifndef WEFT_EXECUTOR_POLL_WATCHED_H_
#define WEFT_EXECUTOR_POLL_WATCHED_H_

#include <cstdint>

#include "weft/executor/poll_capture.h"
#include "weft/task/instant.h"

namespace weft::executor_internal {

class PollWatched {
 public:
  struct PollGlance {
    bool in_poll;       // the thread is in a poll, or close to one
    uint64_t progress;  // changes between polls
  };

  // How many places for threads there are; may grow.
  virtual int CountRunners() = 0;
  // Of the thread that has a place.
  virtual PollGlance GlanceAt(int runner) = 0;
  // See PollCapture::Take(); false also if no thread has the place.
  virtual bool CapturePoll(int runner, Instant deadline,
                           PollCapture& capture) = 0;

 protected:
  ~PollWatched() = default;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_POLL_WATCHED_H_
