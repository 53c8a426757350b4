// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OnceInitFuture: waits for the turn to make a OnceCell's value, and makes it.
// Internal; sync/once_cell.h is the cell.
//
// Thread safety: one thread at a time.
// Dropping: leaves the line, or destroys the initializer and ends its turn.
#ifndef WEFT_SYNC_ONCE_INIT_H_
#define WEFT_SYNC_ONCE_INIT_H_

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/once_core.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft::sync_internal {

// With kTry, what function() gives is a StatusOr<T>.
template <class Cell, class T, class Function, bool kTry>
class [[nodiscard]] OnceInitFuture {
  using Init = std::invoke_result_t<Function&>;
  static_assert(Future<Init>, "an initializer returns a future of the value");
  static_assert(
      std::is_same_v<OutputOf<Init>,
                     std::conditional_t<kTry, absl::StatusOr<T>, T>>,
      "the future of GetOrInit gives a T, that of GetOrTryInit a StatusOr<T>");

 public:
  using Output = std::conditional_t<kTry, absl::StatusOr<T*>, T&>;

  OnceInitFuture(Cell& cell, OnceCore& core, Function&& function)
      : cell_(cell), core_(core), function_(std::move(function)) {}
  OnceInitFuture(OnceInitFuture&&) = default;
  OnceInitFuture& operator=(OnceInitFuture&&) = delete;
  ~OnceInitFuture() {
    if (node_.polled) core_.DropTurnWait(node_);
    if (has_turn_) {
      init_.future.reset();
      core_.EndTurn();
    }
  }

  Polled<Output> Poll(Context& cx) {
    if (!has_turn_) {
      if (!node_.polled && core_.HasValue()) {
        if (!cx.HasBudget()) return kPending;
        cx.Charge();
        return Found();
      }
      switch (core_.PollTurn(node_, cx)) {
        case OnceCore::Turn::kNotYet:
          return kPending;
        case OnceCore::Turn::kHasValue:
          return Found();
        case OnceCore::Turn::kMine:
          has_turn_ = true;
      }
    }
    // What throws below ends the turn, here or, where exceptions pass through
    // code that knows nothing of them, in the destructor.
    TurnEnder ender(*this);
    if (!init_.future.has_value()) init_.future.emplace(Maker(function_));
    Polled<OutputOf<Init>> made = init_.future->Poll(cx);
    if (made.IsPending()) {
      ender.Keep();
      return kPending;
    }
    if constexpr (kTry) {
      if (!made->ok()) return Output(made->status());
      return Output(Store(ender, **std::move(made)));
    } else {
      return *Store(ender, *std::move(made));
    }
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (has_turn_ && init_.future.has_value()) {
      TraceFuture(*init_.future, trace);
    } else {
      trace.AddFuture("sync::OnceCell");
    }
  }

 private:
  // Makes the future where it is to be, since it may not be movable.
  struct Maker {
    explicit Maker(Function& function) : function(function) {}
    operator Init() const { return function(); }  // NOLINT: implicit
    Function& function;
  };

  // Moves as nothing: the future is made after the last move.
  struct InitHolder {
    InitHolder() = default;
    InitHolder(InitHolder&&) noexcept {}
    std::optional<Init> future;
  };

  class TurnEnder {
   public:
    explicit TurnEnder(OnceInitFuture& self) : self_(&self) {}
    TurnEnder(const TurnEnder&) = delete;
    TurnEnder& operator=(const TurnEnder&) = delete;
    ~TurnEnder() {
      if (self_ == nullptr) return;
      self_->init_.future.reset();
      self_->has_turn_ = false;
      self_->core_.EndTurn();
    }
    void Keep() { self_ = nullptr; }

   private:
    OnceInitFuture* self_;
  };

  Polled<Output> Found() {
    if constexpr (kTry) {
      return Output(cell_.Get());
    } else {
      return *cell_.Get();
    }
  }

  T* Store(TurnEnder& ender, T&& value) {
    std::unique_ptr<T, typename Cell::Destroy> made(
        cell_.Construct(std::move(value)));
    init_.future.reset();
    core_.EndTurnWithValue();
    // Not before: if memory runs out it has not ended.
    ender.Keep();
    has_turn_ = false;
    return made.release();
  }

  Cell& cell_;
  OnceCore& core_;
  Function function_;
  WaitNode node_;
  // The turn is this future's own, and no node's any more.
  bool has_turn_ = false;
  InitHolder init_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_ONCE_INIT_H_
