// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DeadlineToken: a cancellation token that is cancelled when a moment has come.
//
//   Task<Page> Load(Url url, CancellationToken stop) {
//     const auto limit = timer::CancelAfter(absl::Seconds(5), stop);
//     for (int part = 0; !limit.token().IsCancelled(); ++part) ...
//
// The reason is DeadlineStatus() then; its token is a child of the one that it
// was given, and is cancelled with that, too. For one future alone there is
// timer/timeout.h.
//
// No task waits for the moment: whoever drives the timers cancels, and so calls
// callbacks and wakes waiters. Those are the Timers, or else the FakeClock, of
// the environment in which this is made, else a service thread's; if these
// Timers are destroyed, the service thread's from then on.
//
// Thread safety: token(), deadline() and Cancel() from any thread.
// Lifetime: independent of its parent, of Timers and of its tokens.
// Dropping: the timer is gone; what was not cancelled by then will not be, except
// by the parent. If its moment has just come on another thread, the cancellation
// may be seen a little later.
#ifndef WEFT_TIMER_DEADLINE_TOKEN_H_
#define WEFT_TIMER_DEADLINE_TOKEN_H_

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "weft/select/cancellation_token.h"
#include "weft/task/instant.h"
#include "weft/task/status.h"

namespace weft::timer {

class [[nodiscard]] DeadlineToken {
 public:
  // A parent without a source is none.
  explicit DeadlineToken(Instant deadline,
                         const CancellationToken& parent = CancellationToken());
  DeadlineToken(DeadlineToken&& other) noexcept
      : alarm_(std::exchange(other.alarm_, nullptr)) {}
  DeadlineToken& operator=(DeadlineToken&& other) noexcept {
    std::swap(alarm_, other.alarm_);
    return *this;
  }
  ~DeadlineToken();

  CancellationToken token() const;
  Instant deadline() const;

  // Cancels before the deadline, as CancellationSource::Cancel().
  void Cancel(const absl::Status& reason = CancelledStatus());

 private:
  struct Alarm;

  Alarm* alarm_;
};

// Cancelled at `deadline`: at once if that has come.
inline DeadlineToken CancelAt(
    Instant deadline, const CancellationToken& parent = CancellationToken()) {
  return DeadlineToken(deadline, parent);
}

// Cancelled `d` from now, on the current environment's clock.
DeadlineToken CancelAfter(
    absl::Duration d, const CancellationToken& parent = CancellationToken());
template <class Rep, class Period>
DeadlineToken CancelAfter(
    std::chrono::duration<Rep, Period> d,
    const CancellationToken& parent = CancellationToken()) {
  return CancelAfter(absl::FromChrono(d), parent);
}

}  // namespace weft::timer

#endif  // WEFT_TIMER_DEADLINE_TOKEN_H_
