// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Statuses that keep the system's error.
//
// An operation that the system refused says what was tried, on what, and why:
//
//   return ErrnoStatus(errno, "connect 127.0.0.1:80");
//   -> "connect 127.0.0.1:80: Connection refused", ErrnoOf() == ECONNREFUSED
//
// Outcomes that carry no such detail (cancelled, closed, deadline) are made of
// the code alone and allocate nothing.
//
// Thread safety: as absl::Status.
#ifndef WEFT_TASK_STATUS_H_
#define WEFT_TASK_STATUS_H_

#include <string_view>

#include "absl/status/status.h"

namespace weft {

// The status for system error `error` (an errno value, not 0) of `operation`,
// which names the call and its object. The code is Abseil's canonical one, except
// that EADDRNOTAVAIL is Unavailable.
absl::Status ErrnoStatus(int error, std::string_view operation);

// The errno value that `status` was made from, or 0.
int ErrnoOf(const absl::Status& status);

// Statuses without a message: nothing is allocated for them.
inline absl::Status CancelledStatus() {
  return absl::Status(absl::StatusCode::kCancelled, "");
}
// There was no room for it, and nothing was done; it may be tried again later.
inline absl::Status RefusedStatus() {
  return absl::Status(absl::StatusCode::kResourceExhausted, "");
}
inline absl::Status DeadlineStatus() {
  return absl::Status(absl::StatusCode::kDeadlineExceeded, "");
}
// The other side is gone or the object was closed; trying again will not help.
inline absl::Status ClosedStatus() {
  return absl::Status(absl::StatusCode::kFailedPrecondition, "");
}

}  // namespace weft

#endif  // WEFT_TASK_STATUS_H_
