// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BranchArray: the children of a combinator of a range.
//
// Elements of a container that is given up (an rvalue), and what a view makes,
// are held by value; elements of a container that is named, or that a view
// refers to, are polled where they stand.
//
// Up to 8 children are all polled in each poll, with the caller's waker. Of
// more, each has a waker of its own, and those that were woken are polled.
// Internal.
//
// Thread safety: one thread at a time.
// Lifetime: movable, also between polls.
#ifndef WEFT_SELECT_BRANCH_ARRAY_H_
#define WEFT_SELECT_BRANCH_ARRAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/select/branch.h"
#include "weft/select/child_set.h"
#include "weft/select/guarded_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"

namespace weft::select_internal {

// R is a range, or an lvalue reference to one, of futures.
template <class R>
concept FutureRange =
    std::ranges::input_range<R> &&
    Future<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// Its futures as Branch takes them: F, or F& for those of somebody else.
template <FutureRange R>
using BranchOf = std::conditional_t<
    std::is_reference_v<std::ranges::range_reference_t<R>> &&
        (std::is_lvalue_reference_v<R> ||
         std::ranges::view<std::remove_cvref_t<R>>),
    std::remove_reference_t<std::ranges::range_reference_t<R>>&,
    std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// In which order a poll goes through the children that are to be polled.
enum class PollOrder {
  kAsGiven,  // of those woken, the lowest index first
  kRandom,   // begins at a random one; of more than 8, any order
  kFair      // one that uses up the budget does not keep the turn
};

template <class F>
class BranchArray {
 public:
  using Output = OutputOf<F>;

  template <FutureRange R>
  explicit BranchArray(R&& range) {
    if constexpr (std::ranges::sized_range<R>) {
      branches_.reserve(static_cast<size_t>(std::ranges::size(range)));
    }
    for (auto&& future : range) {
      branches_.emplace_back(static_cast<F&&>(future));
    }
    live_ = size();
    if (size() <= kMaxBranches) return;
    slots_ = std::make_unique<Slot[]>(size());
    for (size_t i = 0; i < size(); ++i) children_.Add(slots_[i]);
  }

  size_t size() const { return branches_.size(); }

  // Polls children. One that is ready is dropped and on_ready(its index, the
  // ready Polled) is called, until that returns true; then returns true. If a
  // child throws, drops all and throws that.
  template <class OnReady>
  bool Poll(Context& cx, PollOrder order, OnReady on_ready) {
    WEFT_CHECK(live_ != 0, "a future was polled after it was ready");
    if (slots_ == nullptr && !cx.HasBudget()) return false;
    return GuardedPoll(
        [&] {
          return slots_ == nullptr ? PollAll(cx, order, on_ready)
                                   : PollWoken(cx, order, on_ready);
        },
        [&] { DropAll(); });
  }

  // The child that is ready first, if one is: then all are dropped.
  struct First {
    size_t index;
    Polled<Output> polled;  // ready
  };
  std::optional<First> PollFirst(Context& cx, bool biased) {
    std::optional<First> first;
    Poll(cx, biased ? PollOrder::kAsGiven : PollOrder::kRandom,
         [&](size_t index, Polled<Output>&& polled) {
           first.emplace(First{index, std::move(polled)});
           return true;
         });
    if (first.has_value()) DropAll();
    return first;
  }

  void DropAll() {
    for (auto& branch : branches_) branch.Drop();
    // The wakers of lvalues wake nobody any more.
    children_ = ChildSet();
    slots_ = nullptr;
    live_ = 0;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    const AwaitTrace::Scope scope(trace);
    bool watched = slots_ == nullptr;
    for (size_t i = 0; i < size(); ++i) {
      watched = watched || slots_[i].IsWatched();
      TraceBranch(branches_[i], trace);
    }
    if (children_.parked() && !watched) trace.AddOwnWaker();
  }

 private:
  static constexpr size_t kMaxPolls = 256;

  struct Slot final : Child {};

  template <class OnReady>
  bool PollAll(Context& cx, PollOrder order, OnReady& on_ready) {
    const auto count = static_cast<uint32_t>(size());
    uint32_t index = 0;
    if (order == PollOrder::kRandom) index = cx.random().Below(count);
    if (order == PollOrder::kFair && count != 0) index = start_++ % count;
    for (uint32_t n = 0; n < count; ++n, index = (index + 1) % count) {
      if (branches_[index].find() == nullptr) continue;
      if (PollOne(index, cx, on_ready)) return true;
    }
    return false;
  }

  template <class OnReady>
  bool PollWoken(Context& cx, PollOrder order, OnReady& on_ready) {
    if (order != PollOrder::kFair) Arrange(order, cx);
    return children_.Run(cx, std::min(live_, kMaxPolls), [&](Child& child) {
      return PollOne(
          static_cast<size_t>(static_cast<Slot*>(&child) - slots_.get()), cx,
          on_ready);
    });
  }

  template <class OnReady>
  bool PollOne(size_t index, Context& cx, OnReady& on_ready) {
    auto polled = slots_ == nullptr
                      ? branches_[index].Poll(cx)
                      : children_.Poll(slots_[index], cx, [&](Context& inner) {
                          return branches_[index].Poll(inner);
                        });
    if (polled.IsPending()) return false;
    --live_;
    branches_[index].Drop();
    if (slots_ != nullptr) slots_[index].Retire();
    return on_ready(index, std::move(polled));
  }

  // Brings the queue of those to be polled into `order`.
  void Arrange(PollOrder order, Context& cx) {
    children_.TakeQueue([&](Child* child) { woken_.push_back(child); });
    if (order == PollOrder::kAsGiven) {
      std::sort(woken_.begin(), woken_.end(), std::less<Child*>());
    } else {
      for (size_t left = woken_.size(); left > 1; --left) {
        std::swap(woken_[left - 1],
                  woken_[cx.random().Below(static_cast<uint32_t>(left))]);
      }
    }
    for (Child* child : woken_) children_.Enqueue(*child);
    woken_.clear();
  }

  std::vector<Branch<F>> branches_;
  size_t live_ = 0;  // of them
  uint32_t start_ = 0;
  // Of more than kMaxBranches only: slots_[i] is branches_[i]'s.
  std::unique_ptr<Slot[]> slots_;
  ChildSet children_;
  std::vector<Child*> woken_;  // empty but in Arrange()
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_BRANCH_ARRAY_H_
