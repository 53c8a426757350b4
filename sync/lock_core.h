// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LockCore: what a Semaphore, a Mutex and an RwLock have in common: a LockWord, and
// a queue of those whom it could not serve. Internal.
//
// Two orders:
//
//   kFifo     What is given back is given to the front of the queue, which learns
//             of it later (kNotified); nobody overtakes.
//   kBarging  What is given back is for the taking, and the front is woken to try
//             (kWoken). It leaves the queue for that. With one that may be left
//             alone, neither polled nor dropped (Context::IsPrompt), the next is
//             woken, up to one that is sure to come: so it holds up nobody. Who
//             comes too late goes back to the front. After kMaxLosses such
//             races, or when it has waited for longer than kPatience, it is
//             starved: while one of those is queued the order is kFifo. For the
//             front it is a lost race, too, if what is given back is not enough.
//
// Thread safety: all methods from any thread; a Waiter belongs to one at a time.
// Lifetime: outlives its waiters. Whoever got something may destroy it at once,
// while the one who gave that back is still inside.
#ifndef WEFT_SYNC_LOCK_CORE_H_
#define WEFT_SYNC_LOCK_CORE_H_

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "absl/base/attributes.h"
#include "weft/sync/lock_word.h"
#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/task_state.h"

namespace weft::sync_internal {

enum class LockOrder : uint8_t { kFifo, kBarging };

// `Atomics` and `Mutex` let a model checker run this code.
template <class Rules, class Atomics = task_internal::StdAtomics,
          class Mutex = SmallMutex>
class BasicLockCore {
 public:
  using Request = typename Rules::Request;

  // The patience is async-lock's. The losses end what takes no time at all, under a
  // FakeClock for example.
  static constexpr int64_t kPatienceNanoseconds = 500'000;
  static constexpr int kMaxLosses = 16;

  struct Waiter : WaitNode {
    explicit Waiter(Request request, bool goes_first = false)
        : request(request), goes_first(goes_first) {}

    const Request request;
    const bool goes_first;  // before the queue, that is
    // Guarded by the mutex; for kBarging.
    bool starved = false;  // only in the queue
    int losses = 0;
    int64_t since = 0;    // nanoseconds of the clock
    bool prompt = false;  // its last poll was
  };

  enum class Got { kNotYet, kTaken, kClosed };

  constexpr BasicLockCore(Word word, LockOrder order)
      : word_(word), order_(order) {}
  BasicLockCore(const BasicLockCore&) = delete;
  BasicLockCore& operator=(const BasicLockCore&) = delete;
  // Requires: nobody waits.
  ~BasicLockCore() {
    // Whoever gave back the last may still be inside.
    std::lock_guard lock(mutex_);
    WEFT_CHECK(
        queue_.IsEmpty(),
        "a lock or semaphore was destroyed while something waits for it");
  }

  bool TryTake(Request request) { return word_.TryTake(request); }
  // The same before the queue.
  bool TryTakeFirst(Request request) { return word_.TryTake(request, kClosed); }
  void Give(Request request) {
    if (!word_.TryGive(request)) GiveQueued(request);
  }

  // Polls for waiter.request. Charges the budget if ready.
  Got Poll(Waiter& waiter, Context& cx) {
    if (!waiter.polled && cx.PeekBudget() &&
        word_.TryTake(waiter.request,
                      waiter.goes_first ? kClosed : kNoBarging | kClosed)) {
      cx.Charge();
      return Got::kTaken;
    }
    return PollQueued(waiter, cx);
  }
  // The end of a waiter that has been polled and was not ready.
  void Drop(Waiter& waiter);

  // Every wait ends with kClosed, except those that have been given what they
  // want. What is out may still be given back.
  void Close();

  Word Load() const { return word_.Load(); }
  // As LockWord's. Must not give anything back.
  template <class Change>
  void Update(Change change) {
    word_.Update(change);
  }

 private:
  ABSL_ATTRIBUTE_NOINLINE void GiveQueued(Request request);
  ABSL_ATTRIBUTE_NOINLINE Got PollQueued(Waiter& waiter, Context& cx);

  // All below require the mutex.

  bool IsFifo() const { return IsFifo(starved_); }
  bool IsFifo(size_t starved) const {
    return order_ == LockOrder::kFifo || starved != 0;
  }
  Waiter& front() { return static_cast<Waiter&>(*queue_.front()); }

  // `waiter`, idle or woken, takes what it wants or joins the queue.
  void Enter(Waiter& waiter, int64_t now);
  void Remove(Waiter& waiter);
  // How many of the queue Serve() would take out if the word was `word`, and
  // `leaving` was not there.
  size_t CountServed(Word word, const Waiter* leaving = nullptr) const;
  // Gives to the queue what there is, or wakes those for whom it is enough.
  void Serve(WakeBatch& wakers);

  LockWord<Rules, Atomics> word_;
  const LockOrder order_;

  Mutex mutex_;  // after `order_`: the two fit into one word
  // Guarded by the mutex. If IsFifo(), the front does not fit the word.
  WaitQueue queue_;
  size_t starved_ = 0;  // of those in the queue
};

template <class Rules, class Atomics, class Mutex>
void BasicLockCore<Rules, Atomics, Mutex>::GiveQueued(Request request) {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(
      lock, [&] { return CountServed(Rules::Give(word_.Load(), request)); });
  word_.Update([&](Word word) { return Rules::Give(word, request); });
  // Where that is not enough for the first, newcomers may take it away, as often as
  // something is given back: the first, who is not woken for it, loses here.
  if (!queue_.IsEmpty() && !IsFifo() &&
      !Rules::Fits(word_.Load(), front().request) &&
      ++front().losses >= kMaxLosses) {
    front().starved = true;
    ++starved_;
  }
  Serve(wakers);
  lock.unlock();
  wakers.WakeAll();
}

template <class Rules, class Atomics, class Mutex>
auto BasicLockCore<Rules, Atomics, Mutex>::PollQueued(Waiter& waiter,
                                                      Context& cx) -> Got {
  // Not under the mutex: a clock may be anybody's.
  const int64_t now = order_ == LockOrder::kBarging
                          ? cx.clock().Now().nanoseconds()
                          : int64_t{0};
  Got got = Got::kNotYet;
  const bool finished = PollWait(mutex_, queue_, waiter, cx, [&] {
    waiter.prompt = cx.IsPrompt();
    if (waiter.state == WaitNode::kIdle || waiter.state == WaitNode::kWoken) {
      Enter(waiter, now);
    }
    if (waiter.state == WaitNode::kQueued) return false;
    got = waiter.state == WaitNode::kNotified ? Got::kTaken : Got::kClosed;
    return true;
  });
  return finished ? got : Got::kNotYet;
}

template <class Rules, class Atomics, class Mutex>
void BasicLockCore<Rules, Atomics, Mutex>::Enter(Waiter& waiter, int64_t now) {
  const bool lost = waiter.state == WaitNode::kWoken;
  if (lost) {
    ++waiter.losses;
  } else {
    waiter.since = now;
  }
  // Where nobody would be before it, it takes what it can: as the front it would
  // be given that.
  const bool is_first = lost || waiter.goes_first || queue_.IsEmpty();
  const bool may_take = is_first || !IsFifo();
  const bool starves = lost && (waiter.losses >= kMaxLosses ||
                                now - waiter.since >= kPatienceNanoseconds);
  const Word bits = IsFifo() || starves ? kQueued | kNoBarging : kQueued;
  word_.Update([&](Word word) {
    if ((word & kClosed) != 0) {
      waiter.state = WaitNode::kReleased;
      return word;
    }
    if (may_take && Rules::Fits(word, waiter.request)) {
      waiter.state = WaitNode::kNotified;
      return Rules::Take(word, waiter.request);
    }
    waiter.state = WaitNode::kQueued;
    return word | bits;
  });
  if (waiter.state != WaitNode::kQueued) return;
  waiter.starved = starves;
  starved_ += starves;
  if (is_first) {
    queue_.PushFront(waiter);
  } else {
    queue_.PushBack(waiter);
  }
}

template <class Rules, class Atomics, class Mutex>
void BasicLockCore<Rules, Atomics, Mutex>::Drop(Waiter& waiter) {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  const auto given_back = [&](Word word) {
    return waiter.state == WaitNode::kNotified
               ? Rules::Give(word, waiter.request)
               : word;
  };
  wakers.Reserve(
      lock, [&] { return CountServed(given_back(word_.Load()), &waiter); });
  if (waiter.state == WaitNode::kQueued) Remove(waiter);
  word_.Update(given_back);
  Serve(wakers);
  lock.unlock();
  wakers.WakeAll();
}

template <class Rules, class Atomics, class Mutex>
void BasicLockCore<Rules, Atomics, Mutex>::Close() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return queue_.size(); });
  while (!queue_.IsEmpty()) {
    front().starved = false;
    wakers.Add(queue_.NotifyFront(WaitNode::kReleased));
  }
  starved_ = 0;
  word_.Update(
      [](Word word) { return (word | kClosed) & ~(kQueued | kNoBarging); });
  lock.unlock();
  wakers.WakeAll();
}

template <class Rules, class Atomics, class Mutex>
void BasicLockCore<Rules, Atomics, Mutex>::Remove(Waiter& waiter) {
  starved_ -= waiter.starved;
  waiter.starved = false;
  queue_.Remove(waiter);
}

template <class Rules, class Atomics, class Mutex>
size_t BasicLockCore<Rules, Atomics, Mutex>::CountServed(
    Word word, const Waiter* leaving) const {
  const bool gives =
      IsFifo(starved_ - (leaving != nullptr && leaving->starved));
  size_t served = 0;
  for (const WaitNode* node = queue_.front(); node != nullptr;
       node = node->next) {
    if (node == leaving) continue;
    const auto& waiter = static_cast<const Waiter&>(*node);
    if (!Rules::Fits(word, waiter.request)) break;
    if (gives || waiter.prompt) word = Rules::Take(word, waiter.request);
    ++served;
  }
  return served;
}

template <class Rules, class Atomics, class Mutex>
void BasicLockCore<Rules, Atomics, Mutex>::Serve(WakeBatch& wakers) {
  const bool gives = IsFifo();
  Word word = word_.Load();
  while (!queue_.IsEmpty() && Rules::Fits(word, front().request)) {
    const Request request = front().request;
    if (gives) {
      // Nobody barges in now, so nobody but those who go first can come between.
      bool fits = false;
      word = word_.Update([&](Word now) {
        fits = Rules::Fits(now, request);
        return fits ? Rules::Take(now, request) : now;
      });
      if (!fits) break;
    } else if (front().prompt) {
      word = Rules::Take(word, request);  // as it will do
    }
    starved_ -= front().starved;
    front().starved = false;
    wakers.Add(
        queue_.NotifyFront(gives ? WaitNode::kNotified : WaitNode::kWoken));
  }
  const Word bits = queue_.IsEmpty() ? 0
                    : IsFifo()       ? kQueued | kNoBarging
                                     : kQueued;
  word_.Update(
      [&](Word now) { return (now & ~(kQueued | kNoBarging)) | bits; });
}

extern template class BasicLockCore<PermitRules>;
extern template class BasicLockCore<ExclusionRules>;

using PermitCore = BasicLockCore<PermitRules>;
using ExclusionCore = BasicLockCore<ExclusionRules>;

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_LOCK_CORE_H_
