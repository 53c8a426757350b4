// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// FuturesUnordered<F>: many futures of one type in one task, whose outputs come
// as they are ready; a stream.
//
//   FuturesUnordered<Task<Page>> fetches;
//   for (const Url& url : urls) fetches.Push(Fetch(url));
//   while (std::optional<Page> page = co_await fetches.Next()) {
//     for (const Url& url : page->links) fetches.Push(Fetch(url));
//   }
//
// Only futures that were woken are polled, in the order in which they were
// woken, so that one of a million that gets on costs one poll. A future is
// destroyed as soon as it is ready, before its output is given. One that throws
// is destroyed, too, and Next() throws that; the others stay.
//
// Next() is ready with nullopt while the set is empty; it goes on after a Push.
// It stops polling when the task's budget is spent, or after 256 futures that
// are not ready, and goes on in the next poll of the task. FuturesOrdered gives
// the outputs in another order; to have the futures run on several threads,
// spawn them and push their handles.
//
// Thread safety: one thread at a time; it may be another one each time.
// Lifetime: movable, also between polls; the futures stay where they are. One
// allocation for each future, one more if it keeps its waker.
// Dropping: drops the futures, oldest first. Dropping a Next() loses nothing.
#ifndef WEFT_SELECT_FUTURES_UNORDERED_H_
#define WEFT_SELECT_FUTURES_UNORDERED_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "weft/select/child_set.h"
#include "weft/select/guarded_poll.h"
#include "weft/stream/next.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

template <Future F>
class FuturesUnordered {
 public:
  // Void is Unit, a reference a reference_wrapper.
  using Item = StoredOf<OutputOf<F>>;

  FuturesUnordered() = default;
  FuturesUnordered(FuturesUnordered&& other) noexcept
      : front_(std::exchange(other.front_, nullptr)),
        back_(std::exchange(other.back_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        children_(std::move(other.children_)) {}
  FuturesUnordered& operator=(FuturesUnordered&& other) noexcept {
    FuturesUnordered(std::move(other)).Swap(*this);
    return *this;
  }
  ~FuturesUnordered() { DropAll(); }

  // Adds `future`, which Next() will poll.
  void Push(F future) {
    Slot* const slot = new Slot(std::move(future));
    slot->previous = back_;
    (back_ != nullptr ? back_->next : front_) = slot;
    back_ = slot;
    ++size_;
    children_.Add(*slot);
  }

  // The next output; nullopt if there is no future.
  // (Auto: the class is a Stream only from its end on.)
  auto Next() { return NextFuture<FuturesUnordered>(*this); }
  Polled<std::optional<Item>> PollNext(Context& cx) {
    std::optional<Item> item;
    if (size_ == 0) return item;
    const bool got = children_.Run(
        cx, std::min(size_, kMaxPolls), [&](select_internal::Child& child) {
          return PollOne(static_cast<Slot&>(child), cx, item);
        });
    if (!got) return kPending;
    if (size_ == 0) children_.ForgetOwner();
    return item;
  }

  // Futures that are not ready, or whose output was not given yet.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Drops all futures. A pending Next() is ready then, with nullopt.
  void Clear() {
    DropAll();
    children_.WakeOwner();
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { TraceAs("FuturesUnordered", trace); }
  // `what` must be constant.
  void TraceAs(std::string_view what, AwaitTrace& trace) const {
    trace.AddFuture(what);
    const AwaitTrace::Scope scope(trace);
    bool watched = false;
    for (const Slot* slot = front_; slot != nullptr; slot = slot->next) {
      watched = watched || slot->IsWatched();
      TraceFuture(slot->future, trace);
    }
    if (children_.parked() && !watched) trace.AddOwnWaker();
  }

 private:
  static constexpr size_t kMaxPolls = 256;

  struct Slot final : select_internal::Child {
    explicit Slot(F&& future) : future(std::move(future)) {}

    F future;
    Slot* previous = nullptr;
    Slot* next = nullptr;
  };

  // True if it is ready; then the slot is gone.
  bool PollOne(Slot& slot, Context& cx, std::optional<Item>& item) {
    const bool ready = select_internal::GuardedPoll(
        [&] {
          auto polled = children_.Poll(slot, cx, [&](Context& inner) {
            return slot.future.Poll(inner);
          });
          if (polled.IsPending()) return false;
          item.emplace(TakeReady(std::move(polled)));
          return true;
        },
        [&] { Remove(&slot); });
    if (ready) Remove(&slot);
    return ready;
  }
  void Remove(Slot* slot) {
    (slot->previous != nullptr ? slot->previous->next : front_) = slot->next;
    (slot->next != nullptr ? slot->next->previous : back_) = slot->previous;
    --size_;
    delete slot;
  }
  void DropAll() {
    children_.AbandonQueue();
    // A destructor may push: into the set as it is when it is empty.
    Slot* slot = std::exchange(front_, nullptr);
    back_ = nullptr;
    size_ = 0;
    while (slot != nullptr) delete std::exchange(slot, slot->next);
  }
  void Swap(FuturesUnordered& other) {
    std::swap(front_, other.front_);
    std::swap(back_, other.back_);
    std::swap(size_, other.size_);
    std::swap(children_, other.children_);
  }

  // All futures, oldest first.
  Slot* front_ = nullptr;
  Slot* back_ = nullptr;
  size_t size_ = 0;
  select_internal::ChildSet children_;
};

}  // namespace weft

#endif  // WEFT_SELECT_FUTURES_UNORDERED_H_
