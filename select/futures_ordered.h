// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// FuturesOrdered<F>: many futures of one type in one task, whose outputs come
// in the order in which they were pushed; a stream.
//
//   FuturesOrdered<Task<Row>> rows;
//   for (int id : ids) {
//     if (rows.size() == kAtOnce) Print(*co_await rows.Next());
//     rows.Push(Load(id));
//   }
//
// All of them get on, as in FuturesUnordered, whichever is first; what is ready
// before its turn is kept, and so is what a future throws: Next() throws it
// when its turn has come, and goes on behind it.
//
// Next() is ready with nullopt while there is nothing; it goes on after a Push.
//
// Thread safety: one thread at a time; it may be another one each time.
// Lifetime: movable, also between polls; the futures stay where they are.
// Dropping: drops the futures, oldest first, and the outputs that were kept.
// Dropping a Next() loses nothing.
#ifndef WEFT_SELECT_FUTURES_ORDERED_H_
#define WEFT_SELECT_FUTURES_ORDERED_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "weft/select/caught_poll.h"
#include "weft/select/futures_unordered.h"
#include "weft/select/guarded_poll.h"
#include "weft/stream/next.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

template <Future F>
class FuturesOrdered {
 public:
  // Void is Unit, a reference a reference_wrapper.
  using Item = StoredOf<OutputOf<F>>;

  // Adds `future`, which Next() will poll.
  void Push(F future) {
    outcomes_.emplace_back();
    // Where there is no memory for the future its place goes, too.
    select_internal::GuardedPoll(
        [&] {
          futures_.Push(
              Numbered(std::move(future), first_ + outcomes_.size() - 1));
          return true;
        },
        [&] { outcomes_.pop_back(); });
  }

  // The output of the oldest future; nullopt if there is none.
  // (Auto: the class is a Stream only from its end on.)
  auto Next() { return NextFuture<FuturesOrdered>(*this); }
  Polled<std::optional<Item>> PollNext(Context& cx) {
    for (int kept = 0; !outcomes_.empty(); ++kept) {
      if (outcomes_.front().IsKnown()) return TakeFront();
      if (kept == kMaxKept) {
        cx.waker().WakeByRef();
        return kPending;
      }
      auto finished = futures_.PollNext(cx);
      if (finished.IsPending()) return kPending;
      Finished& one = **finished;
      outcomes_[one.number - first_] = std::move(one.outcome);
    }
    return std::optional<Item>();
  }

  // Futures whose output was not given yet.
  size_t size() const { return outcomes_.size(); }
  bool empty() const { return outcomes_.empty(); }

  // Drops all futures and outputs. A pending Next() is ready then, with
  // nullopt.
  void Clear() {
    first_ += outcomes_.size();
    const auto outcomes = std::exchange(outcomes_, {});
    futures_.Clear();
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    futures_.TraceAs("FuturesOrdered", trace);
  }

 private:
  // How many outputs one poll may put aside.
  static constexpr int kMaxKept = 256;

  struct Outcome {
    bool IsKnown() const { return item.has_value() || error != nullptr; }

    std::optional<Item> item;
    std::exception_ptr error;
  };
  struct Finished {
    uint64_t number;
    Outcome outcome;
  };

  // One of the futures; never throws.
  class Numbered {
   public:
    using Output = Finished;

    explicit Numbered(F&& future, uint64_t number)
        : future_(std::move(future)), number_(number) {}

    Polled<Finished> Poll(Context& cx) {
      Outcome outcome;
      outcome.error = select_internal::CaughtPoll([&] {
        auto polled = future_.Poll(cx);
        if (polled.IsReady())
          outcome.item.emplace(TakeReady(std::move(polled)));
      });
      if (!outcome.IsKnown()) return kPending;
      return Finished{number_, std::move(outcome)};
    }

    void Trace(AwaitTrace& trace) const { TraceFuture(future_, trace); }

   private:
    F future_;
    uint64_t number_;
  };

  std::optional<Item> TakeFront() {
    Outcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    ++first_;
    if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
    return std::move(outcome.item);
  }

  // Of the futures with the numbers first_, first_ + 1, ...
  std::deque<Outcome> outcomes_;
  uint64_t first_ = 0;
  FuturesUnordered<Numbered> futures_;
};

}  // namespace weft

#endif  // WEFT_SELECT_FUTURES_ORDERED_H_
