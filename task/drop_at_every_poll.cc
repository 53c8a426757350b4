// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/drop_at_every_poll.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"

namespace weft::task_internal {
namespace {

constexpr size_t kToTheEnd = std::numeric_limits<size_t>::max();

// Polls `future` until it is ready or has been polled `limit` times. The number
// of polls.
absl::StatusOr<size_t> PollUpTo(DroppedFuture& future, size_t limit,
                                CountingWaker& waker,
                                const DropAtEveryPollOptions& options) {
  Context cx(waker.waker());
  for (size_t polls = 0; polls != limit;) {
    if (polls == options.max_polls) {
      return absl::DeadlineExceededError(
          absl::StrCat("not ready after ", polls, " polls"));
    }
    ++polls;
    if (future.Poll(cx)) return polls;
    while (polls != limit && waker.TakeWakes() == 0) {
      if (options.step == nullptr || !options.step()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "pending after ", polls, " polls, and nothing will wake it"));
      }
    }
  }
  return limit;
}

// One run, dropped after `limit` polls.
absl::StatusOr<size_t> RunOnce(
    absl::FunctionRef<std::unique_ptr<DroppedFuture>()> make, size_t limit,
    const DropAtEveryPollOptions& options) {
  const int64_t live_before = options.live == nullptr ? 0 : options.live();
  CountingWaker waker;
  std::unique_ptr<DroppedFuture> future = make();
  absl::StatusOr<size_t> polls = PollUpTo(*future, limit, waker, options);
  future = nullptr;
  if (options.settle != nullptr) options.settle();
  if (!polls.ok()) return polls;

  const int64_t live_after = options.live == nullptr ? 0 : options.live();
  if (live_after != live_before) {
    return absl::InternalError(absl::StrCat(
        "dropped after ", *polls, " polls: ", live_after - live_before,
        " more objects are alive than before"));
  }
  if (waker.outstanding() != 0) {
    return absl::InternalError(absl::StrCat("dropped after ", *polls,
                                            " polls: ", waker.outstanding(),
                                            " wakers are still kept"));
  }
  return polls;
}

}  // namespace

absl::StatusOr<size_t> RunDropAtEveryPoll(
    absl::FunctionRef<std::unique_ptr<DroppedFuture>()> make,
    const DropAtEveryPollOptions& options) {
  const absl::StatusOr<size_t> polls = RunOnce(make, kToTheEnd, options);
  if (!polls.ok()) return polls;
  for (size_t limit = 0; limit < *polls; ++limit) {
    const absl::StatusOr<size_t> dropped = RunOnce(make, limit, options);
    if (!dropped.ok()) return dropped;
  }
  // Earlier drops must not change a later run.
  const absl::StatusOr<size_t> again = RunOnce(make, kToTheEnd, options);
  if (again.ok() && *again != *polls) {
    return absl::InternalError(absl::StrCat("ready after ", *polls,
                                            " polls at first, after ", *again,
                                            " when run again"));
  }
  return again;
}

}  // namespace weft::task_internal
