// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Semaphore: permits that tasks and threads acquire and give back.
//
//   Semaphore slots(8);
//   ...
//   auto permit = co_await slots.Acquire();  // StatusOr<Semaphore::Permit>
//   if (!permit.ok()) co_return;             // the semaphore was closed
//   co_await Work();                         // `permit` goes back at its end
//
// Fair, unless told otherwise: permits go to waiters in the order of their first
// polls, and nobody overtakes: who waits for one permit does not pass who waits for
// many. With Order::kBarging whoever comes while there are permits takes them, and
// waiters are woken to try their luck; they are overtaken for about half a
// millisecond, or 16 times. That costs fewer switches between tasks where permits
// are held briefly.
//
// To acquire a permit that is there, and to give it back when nobody waits, is one
// atomic operation each.
//
// What happened before a permit was given back happens before the end of the
// Acquire that gets it.
//
// Thread safety: all methods from any thread; one permit object belongs to one
// thread at a time. Constant-initialized.
// Lifetime: outlives its waits and its permits, except forgotten ones; an
// OwnedPermit keeps it alive. Whoever gets the last permit may destroy it at once,
// while the one who gave it back is still returning.
// Dropping: a wait that is dropped leaves the queue; permits that it had been
// given and never learned of go to the next waiters.
#ifndef WEFT_SYNC_SEMAPHORE_H_
#define WEFT_SYNC_SEMAPHORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/lock_core.h"
#include "weft/sync/lock_word.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class Holder>
class BasicPermit;
template <class Holder>
class BasicAcquireFuture;

class Semaphore {
 public:
  using Permit = BasicPermit<Semaphore*>;
  using OwnedPermit = BasicPermit<std::shared_ptr<Semaphore>>;
  using AcquireFuture = BasicAcquireFuture<Semaphore*>;
  using AcquireOwnedFuture = BasicAcquireFuture<std::shared_ptr<Semaphore>>;

  enum class Order : uint8_t { kFifo, kBarging };

  // More than anybody needs, and sums of a few do not overflow.
  static constexpr size_t kMaxPermits = sync_internal::PermitRules::kMax;

  // Requires: permits <= kMaxPermits. Nobody waits when it is destroyed.
  explicit constexpr Semaphore(size_t permits, Order order = Order::kFifo)
      : core_(sync_internal::PermitRules::Make(permits),
              order == Order::kFifo ? sync_internal::LockOrder::kFifo
                                    : sync_internal::LockOrder::kBarging) {
    WEFT_CHECK(permits <= kMaxPermits,
               "a Semaphore starts with up to kMaxPermits");
  }

  // Ready with `count` permits, all at once, or with ClosedStatus(). Takes its
  // place in the queue at its first poll. Requires: count <= kMaxPermits.
  AcquireFuture Acquire(size_t count = 1);
  absl::StatusOr<Permit> BlockingAcquire(size_t count = 1);

  // `count` permits if they can be had without waiting; else
  // ResourceExhausted, or ClosedStatus(). Neither has a message.
  absl::StatusOr<Permit> TryAcquire(size_t count = 1);

  // The same for permits that keep their semaphore alive.
  static AcquireOwnedFuture AcquireOwned(std::shared_ptr<Semaphore> semaphore,
                                         size_t count = 1);
  static absl::StatusOr<OwnedPermit> BlockingAcquireOwned(
      std::shared_ptr<Semaphore> semaphore, size_t count = 1);
  static absl::StatusOr<OwnedPermit> TryAcquireOwned(
      std::shared_ptr<Semaphore> semaphore, size_t count = 1);

  // Adds permits that nobody has to give back. Requires: there are never more
  // than kMaxPermits.
  void AddPermits(size_t count = 1) { core_.Give({count}); }
  // Takes permits that nobody has away for good, at most `count`; returns how many.
  size_t ForgetPermits(size_t count);

  // Every wait ends with ClosedStatus(), except those that have been given
  // their permits; no more permits are given. Permits may still be given back.
  void Close() { core_.Close(); }
  bool IsClosed() const { return (core_.Load() & sync_internal::kClosed) != 0; }

  // How many permits nobody has. With a waiter for many at the head of the
  // queue they may not be for the taking.
  size_t AvailablePermits() const {
    return sync_internal::PermitRules::Left(core_.Load());
  }

 private:
  template <class Holder>
  friend class BasicAcquireFuture;

  template <class Holder>
  static absl::StatusOr<BasicPermit<Holder>> TryAcquireFor(Holder holder,
                                                           size_t count);

  sync_internal::PermitCore core_;
};

// A number of permits; gives them back when destroyed.
template <class Holder>
class [[nodiscard]] BasicPermit {
 public:
  BasicPermit(BasicPermit&& other) noexcept
      : semaphore_(std::move(other.semaphore_)) {
    // Two loads: as one of 16 bytes, of what was just stored by two of 8, it would
    // wait until they are in the cache (22 ns instead of 12 to acquire and give back).
    std::atomic_signal_fence(std::memory_order_seq_cst);
    count_ = std::exchange(other.count_, 0);
  }
  // Gives back those that this one had.
  BasicPermit& operator=(BasicPermit&& other) noexcept {
    BasicPermit taken(std::move(other));
    std::swap(semaphore_, taken.semaphore_);
    std::swap(count_, taken.count_);
    return *this;
  }
  ~BasicPermit() {
    if (count_ != 0) semaphore_->AddPermits(count_);
  }

  // How many; 0 once moved from or forgotten.
  size_t count() const { return count_; }

  // Takes the permits out of the semaphore for good.
  void Forget() && { count_ = 0; }

  // `count` of these, as an object of their own. Requires: there are so many.
  BasicPermit Split(size_t count) {
    WEFT_CHECK(count <= count_,
               "Split() of more permits than there are; ask count() first");
    count_ -= count;
    return BasicPermit(semaphore_, count);
  }
  // Adds those of `other`. Requires: neither was moved from, and both are of the
  // same semaphore.
  void Merge(BasicPermit other) {
    WEFT_CHECK(semaphore_ == other.semaphore_,
               "Merge() of permits of two semaphores; keep them apart");
    count_ += std::exchange(other.count_, 0);
  }

 private:
  friend Semaphore;
  friend BasicAcquireFuture<Holder>;
  BasicPermit(Holder semaphore, size_t count)
      : semaphore_(std::move(semaphore)), count_(count) {}

  Holder semaphore_;
  size_t count_;
};

template <class Holder>
class [[nodiscard]] BasicAcquireFuture {
 public:
  using Output = absl::StatusOr<BasicPermit<Holder>>;

  BasicAcquireFuture(BasicAcquireFuture&&) = default;
  BasicAcquireFuture& operator=(BasicAcquireFuture&&) = delete;
  ~BasicAcquireFuture() {
    if (waiter_.polled) semaphore_->core_.Drop(waiter_);
  }

  Polled<Output> Poll(Context& cx) {
    Polled<Output> polled = kPending;
    switch (semaphore_->core_.Poll(waiter_, cx)) {
      case sync_internal::PermitCore::Got::kNotYet:
        break;
      case sync_internal::PermitCore::Got::kTaken:
        // In place: a StatusOr is slow to move.
        polled.Emplace(BasicPermit<Holder>(std::move(semaphore_),
                                           waiter_.request.permits));
        break;
      case sync_internal::PermitCore::Got::kClosed:
        polled.Emplace(ClosedStatus());
        break;
    }
    return polled;
  }

 private:
  friend Semaphore;
  BasicAcquireFuture(Holder semaphore, size_t count)
      : semaphore_(std::move(semaphore)),
        waiter_(sync_internal::PermitRules::Request{count}) {
    WEFT_CHECK(count <= Semaphore::kMaxPermits,
               "who waits for more than kMaxPermits would wait for ever");
  }

  Holder semaphore_;
  sync_internal::PermitCore::Waiter waiter_;
};

inline Semaphore::AcquireFuture Semaphore::Acquire(size_t count) {
  return AcquireFuture(this, count);
}
inline Semaphore::AcquireOwnedFuture Semaphore::AcquireOwned(
    std::shared_ptr<Semaphore> semaphore, size_t count) {
  return AcquireOwnedFuture(std::move(semaphore), count);
}

template <class Holder>
absl::StatusOr<BasicPermit<Holder>> Semaphore::TryAcquireFor(Holder holder,
                                                             size_t count) {
  if (holder->core_.TryTake({count})) {
    return BasicPermit<Holder>(std::move(holder), count);
  }
  return holder->IsClosed() ? ClosedStatus() : RefusedStatus();
}

inline absl::StatusOr<Semaphore::Permit> Semaphore::TryAcquire(size_t count) {
  return TryAcquireFor(this, count);
}
inline absl::StatusOr<Semaphore::OwnedPermit> Semaphore::TryAcquireOwned(
    std::shared_ptr<Semaphore> semaphore, size_t count) {
  return TryAcquireFor(std::move(semaphore), count);
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_SEMAPHORE_H_
