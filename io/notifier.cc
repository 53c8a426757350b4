// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/notifier.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/wake_flag.h"
#include "weft/task/futex.h"
#include "weft/task/instant.h"
#include "weft/task/status.h"
#include "weft/task/waker.h"

namespace weft::io::io_internal {

const WakerVTable Notifier::kVTable = {
    .clone =
        [](void* data) { return static_cast<Notifier*>(data)->MakeWaker(); },
    .wake =
        [](void* data) {
          static_cast<Notifier*>(data)->Notify();
          static_cast<Notifier*>(data)->Unref();
        },
    .wake_by_ref = [](void* data) { static_cast<Notifier*>(data)->Notify(); },
    .drop = [](void* data) { static_cast<Notifier*>(data)->Unref(); },
};

absl::StatusOr<Notifier*> Notifier::Create() {
  Fd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.IsValid()) return ErrnoStatus(errno, "eventfd");
  return new Notifier(std::move(event));
}

void Notifier::Notify() {
  const Sleep sleep = flag_.Notify();
  if (sleep == Sleep::kInEpoll) WriteEvent();
  if (sleep == Sleep::kOnWord) WakeWord();
}

void Notifier::SleepOnWord(Instant deadline) {
  task_internal::FutexWait(flag_.word(), static_cast<uint32_t>(Sleep::kOnWord),
                           deadline);
}

void Notifier::LeaveWord() {
  if (flag_.LeaveWord()) WakeWord();
}

void Notifier::WakeWord() {
  const int saved_errno = errno;
  // Relaxed: a statistic.
  writes_.fetch_add(1, std::memory_order_relaxed);
  task_internal::FutexWake(flag_.word());
  errno = saved_errno;
}

void Notifier::WriteEvent() {
  const int saved_errno = errno;
  // Relaxed: a statistic.
  writes_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t one = 1;
  while (write(event_.get(), &one, sizeof(one)) < 0) {
    if (errno == EINTR) continue;
    // Full, after 2^64 - 2 wakes: makes room. Whoever fails here finds that
    // another thread did.
    uint64_t count;
    static_cast<void>(!read(event_.get(), &count, sizeof(count)));
  }
  errno = saved_errno;
}

Waker Notifier::MakeWaker() {
  Ref();
  return Waker(&kVTable, this);
}

void Notifier::Ref() {
  // Relaxed: a new reference is made from an existing one.
  references_.fetch_add(1, std::memory_order_relaxed);
}

void Notifier::Unref() {
  // Acquire-release: the last one sees every use before deleting.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace weft::io::io_internal
