// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/watch_receiver.h"

#include "absl/status/status.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

Polled<absl::Status> WatchChangedFuture::Poll(Context& cx) {
  if (!cursor_.core().PollChange(node_, cursor_.seen(), cx)) return kPending;
  // What is not news after all is the end.
  return cursor_.SeeLatest() ? absl::OkStatus() : ClosedStatus();
}

}  // namespace weft::sync
