// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// FileFuture<T>: a file operation that is done where blocking is allowed.
//
// What most functions of fs return. The whole operation, however many system
// calls it takes, is one job of the lane for files of the environment's
// Offload; a runtime with a blocking pool has one.
//
//   absl::StatusOr<std::string> text = co_await fs::ReadFile("/etc/hosts");
//
// State. Made: holds its job. Polled: the job belongs to the pool, this holds
// the handle. The job owns everything it uses, so nothing of the caller's is
// touched after this future is gone.
//
// Errors: besides the operation's own, ResourceExhausted if the pool refused the
// job and Cancelled if it was shut down. Without an Offload (outside a runtime
// and without //runtime:default) the first poll CHECK-fails.
// Thread safety: one thread at a time; movable also between polls.
// Lifetime: independent of what it was made from.
// Dropping: a job that has not started never runs; one that is running ends,
// with all its effects, and its result is discarded (what it opened is closed).
#ifndef WEFT_FS_FILE_FUTURE_H_
#define WEFT_FS_FILE_FUTURE_H_

#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/polled.h"

namespace weft::fs {

// T is absl::Status or an absl::StatusOr.
template <class T>
class [[nodiscard(
    "a file operation does nothing until it is awaited")]] FileFuture {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  // A future of what `job` will return.
  explicit FileFuture(absl::AnyInvocable<T()> job) : job_(std::move(job)) {}

  Polled<T> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    if (!outcome_.has_value()) Start(cx);
    Polled<T> polled = outcome_->Poll(cx);
    if (polled.IsReady()) cx.Charge();
    return polled;
  }

 private:
  using Outcome = decltype(std::declval<JoinHandle<T>>().Outcome());

  void Start(Context& cx) {
    Offload* found = cx.Find(&Environment::offload);
    Offload& offload =
        found != nullptr ? *found : Environment::CurrentOffload();
    outcome_.emplace(
        offload.Run(OffloadLane::kFile, std::move(job_)).Outcome());
  }

  absl::AnyInvocable<T()> job_;
  std::optional<Outcome> outcome_;
};

}  // namespace weft::fs

#endif  // WEFT_FS_FILE_FUTURE_H_
