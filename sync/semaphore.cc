// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. That of sync/lock_core.h, whose word counts the permits that nobody
// has. A waiter that was served owns its permits already, so dropping it gives them
// back.
#include "weft/sync/semaphore.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/lock_word.h"
#include "weft/task/block_on.h"

namespace weft::sync {

using sync_internal::PermitRules;
using sync_internal::Word;

absl::StatusOr<Semaphore::Permit> Semaphore::BlockingAcquire(size_t count) {
  return task_internal::BlockFor("Semaphore::BlockingAcquire()",
                                 Acquire(count));
}

absl::StatusOr<Semaphore::OwnedPermit> Semaphore::BlockingAcquireOwned(
    std::shared_ptr<Semaphore> semaphore, size_t count) {
  return task_internal::BlockFor("Semaphore::BlockingAcquireOwned()",
                                 AcquireOwned(std::move(semaphore), count));
}

size_t Semaphore::ForgetPermits(size_t count) {
  size_t forgotten = 0;
  core_.Update([&](Word word) {
    forgotten = std::min<size_t>(count, PermitRules::Left(word));
    return PermitRules::Take(word, {forgotten});
  });
  return forgotten;
}

}  // namespace weft::sync
