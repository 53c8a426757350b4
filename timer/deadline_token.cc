// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. An alarm is a Sleep and a source, shared by the DeadlineToken and
// by the waker that the Sleep keeps. Being woken, the alarm polls the Sleep: it
// is due, and then the source is cancelled with no lock held, or its Timers were
// destroyed, and then the poll has bound it to others. A mutex keeps that poll
// and the drop of the Sleep apart; whoever holds it takes the lock of the Timers
// inside, and never the other way round, since Timers wake without their lock.
#include "weft/timer/deadline_token.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "weft/select/cancellation_token.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/status.h"
#include "weft/task/waker.h"
#include "weft/timer/sleep.h"

namespace weft::timer {

struct DeadlineToken::Alarm {
  Alarm(Instant deadline, const CancellationToken& parent)
      : deadline(deadline), source(parent), sleep(deadline) {}

  static Alarm* Of(void* data) { return static_cast<Alarm*>(data); }

  // Relaxed: a new reference is made from an existing one.
  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // Acquire-release: the last one sees every use before destroying.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Requires: the caller has a reference.
  void Look() {
    {
      std::lock_guard lock(mutex);
      if (!sleep.has_value()) return;
      const BorrowedWaker waker(&kVTable, this);
      Context cx(waker.get());
      if (sleep->Poll(cx).IsPending()) return;
      sleep.reset();
    }
    source.Cancel(DeadlineStatus());
  }
  // The caller's reference keeps the alarm when that of the waker goes.
  void Disarm() {
    std::lock_guard lock(mutex);
    sleep.reset();
  }

  static const WakerVTable kVTable;

  const Instant deadline;
  CancellationSource source;
  std::atomic<uint32_t> references{1};
  std::mutex mutex;
  // Under `mutex`; nothing once it is due or dropped.
  std::optional<Sleep> sleep;
};

const WakerVTable DeadlineToken::Alarm::kVTable = {
    .clone =
        [](void* data) {
          Of(data)->Ref();
          return Waker(&kVTable, data);
        },
    .wake =
        [](void* data) {
          Of(data)->Look();
          Of(data)->Unref();
        },
    .wake_by_ref = [](void* data) { Of(data)->Look(); },
    .drop = [](void* data) { Of(data)->Unref(); },
};

DeadlineToken::DeadlineToken(Instant deadline, const CancellationToken& parent)
    : alarm_(new Alarm(deadline, parent)) {
  alarm_->Look();
}

DeadlineToken::~DeadlineToken() {
  if (alarm_ == nullptr) return;
  alarm_->Disarm();
  alarm_->Unref();
}

CancellationToken DeadlineToken::token() const {
  WEFT_CHECK(alarm_ != nullptr, "this DeadlineToken was moved from");
  return alarm_->source.token();
}

Instant DeadlineToken::deadline() const {
  WEFT_CHECK(alarm_ != nullptr, "this DeadlineToken was moved from");
  return alarm_->deadline;
}

void DeadlineToken::Cancel(const absl::Status& reason) {
  WEFT_CHECK(alarm_ != nullptr, "this DeadlineToken was moved from");
  alarm_->source.Cancel(reason);
}

DeadlineToken CancelAfter(absl::Duration d, const CancellationToken& parent) {
  return DeadlineToken(After(d).deadline(), parent);
}

}  // namespace weft::timer
