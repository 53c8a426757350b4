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
// Fair: permits go to waiters in the order of their first polls, and nobody
// overtakes: who waits for one permit does not pass who waits for many.
//
// What happened before a permit was given back happens before the end of the
// Acquire that gets it.
//
// Thread safety: all methods from any thread; one Permit belongs to one thread
// at a time. Constant-initialized.
// Lifetime: outlives its waits and its permits, except forgotten ones. Whoever
// gets the last permit may destroy it at once, while the one who gave it back
// is still returning.
// Dropping: a wait that is dropped leaves the queue; permits that it had been
// given and never learned of go to the next waiters.
#ifndef WEFT_SYNC_SEMAPHORE_H_
#define WEFT_SYNC_SEMAPHORE_H_

#include <cstddef>
#include <limits>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

class Semaphore {
 public:
  class Permit;
  class AcquireFuture;

  // More than anybody needs, and sums of a few do not overflow.
  static constexpr size_t kMaxPermits = std::numeric_limits<size_t>::max() / 8;

  // Requires: permits <= kMaxPermits.
  explicit constexpr Semaphore(size_t permits) : available_(permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  // Requires: nobody waits.
  ~Semaphore();

  // Ready with `count` permits, all at once, or with ClosedStatus(). Takes its
  // place in the queue at its first poll.
  AcquireFuture Acquire();
  AcquireFuture AcquireMany(size_t count);
  absl::StatusOr<Permit> BlockingAcquire(size_t count = 1);

  // `count` permits if they can be had without waiting; else
  // ResourceExhausted, or ClosedStatus(). Neither has a message.
  absl::StatusOr<Permit> TryAcquire(size_t count = 1);

  // Adds permits that nobody has to give back. Requires: there are never more
  // than kMaxPermits.
  void AddPermits(size_t count = 1);

  // Every wait ends with ClosedStatus(), except those that have been given
  // their permits; no more permits are given. Permits may still be given back.
  void Close();
  bool IsClosed() const;

  // How many permits nobody has. With a waiter for many at the head of the
  // queue they may not be for the taking.
  size_t AvailablePermits() const;

 private:
  struct Waiter : sync_internal::WaitNode {
    explicit Waiter(size_t count) : count(count) {}
    const size_t count;
  };

  enum class Acquired { kNotYet, kPermits, kClosed };
  Acquired PollWait(Waiter& waiter, Context& cx);
  void DropWait(Waiter& waiter);
  // Adds `count` permits and gives what is available to the head of the queue.
  // Releases `lock` and then wakes.
  void Distribute(std::unique_lock<std::mutex> lock, size_t count);
  size_t CountServed(size_t permits) const;

  mutable std::mutex mutex_;
  // Guarded by `mutex_`. While the queue is not empty, its head needs more than
  // is available.
  size_t available_;
  bool closed_ = false;
  sync_internal::WaitQueue waiters_;
};

// A number of permits; gives them back when destroyed.
class [[nodiscard]] Semaphore::Permit {
 public:
  Permit(Permit&& other) noexcept
      : semaphore_(std::exchange(other.semaphore_, nullptr)),
        count_(std::exchange(other.count_, 0)) {}
  Permit& operator=(Permit&& other) noexcept {
    std::swap(semaphore_, other.semaphore_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Permit() {
    if (count_ != 0) semaphore_->AddPermits(count_);
  }

  // How many; 0 once moved from or forgotten.
  size_t count() const { return count_; }

  // Takes the permits out of the semaphore for good.
  void Forget() && { count_ = 0; }

 private:
  friend Semaphore;
  Permit(Semaphore* semaphore, size_t count)
      : semaphore_(semaphore), count_(count) {}

  Semaphore* semaphore_;
  size_t count_;
};

class [[nodiscard]] Semaphore::AcquireFuture {
 public:
  using Output = absl::StatusOr<Permit>;

  AcquireFuture(AcquireFuture&&) = default;
  AcquireFuture& operator=(AcquireFuture&&) = delete;
  ~AcquireFuture() {
    if (waiter_.polled) semaphore_.DropWait(waiter_);
  }

  Polled<Output> Poll(Context& cx);

 private:
  friend Semaphore;
  AcquireFuture(Semaphore& semaphore, size_t count)
      : semaphore_(semaphore), waiter_(count) {}

  Semaphore& semaphore_;
  Waiter waiter_;
};

inline Semaphore::AcquireFuture Semaphore::AcquireMany(size_t count) {
  return AcquireFuture(*this, count);
}
inline Semaphore::AcquireFuture Semaphore::Acquire() { return AcquireMany(1); }

}  // namespace weft::sync

#endif  // WEFT_SYNC_SEMAPHORE_H_
