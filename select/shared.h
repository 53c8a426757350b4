// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Shared: a future whose output many wait for.
//
//   auto config = Shared(Load("config"));
//   Spawn(Serve(config)).Detach();   // a copy each
//   Spawn(Report(config)).Detach();
//   const Config& c = co_await config;
//
// Copies share one future and one output, which stays in place and is given as
// a const T& to each that waits (T& and void as they are). Whichever copy is
// polled first polls the future. When the future can get on, all copies that
// wait are woken, and the first one that is polled goes on with it: so one may
// be dropped, or left alone, at any time. If the future throws, each copy throws
// that. The future is destroyed as soon as it is ready.
//
// Each poll runs in the task of the copy that is polled, with its budget and
// its environment. To run the future whoever waits, spawn it and share the
// handle.
//
// Thread safety: each copy on one thread at a time, several at once.
// Lifetime: the output lives as long as a copy does. A copy does not move after
// its first poll (put it into a Task, which may) until it is ready; it may be
// copied, and polled again when it is ready.
// Dropping: drops the future with the last copy; nothing else is lost.
#ifndef WEFT_SELECT_SHARED_H_
#define WEFT_SELECT_SHARED_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/select/caught_poll.h"
#include "weft/select/shared_core.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft {

template <Future F>
class [[nodiscard]] SharedFuture {
 public:
  using Output =
      std::conditional_t<std::is_object_v<OutputOf<F>>,
                         std::add_lvalue_reference_t<const OutputOf<F>>,
                         OutputOf<F>>;

  explicit SharedFuture(F&& future) : state_(new State(std::move(future))) {}
  SharedFuture(const SharedFuture& other) : state_(other.state_) {
    CheckNotEmpty();
    // Relaxed: a new reference is made from an existing one.
    state_->references.fetch_add(1, std::memory_order_relaxed);
  }
  SharedFuture(SharedFuture&& other) noexcept
      : node_(std::move(other.node_)),
        state_(std::exchange(other.state_, nullptr)) {}
  SharedFuture& operator=(SharedFuture&&) = delete;
  ~SharedFuture() {
    if (state_ == nullptr) return;
    state_->core->Leave(node_);
    // Release: our use of the output; acquire: the last one sees all others'.
    if (state_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete state_;
    }
  }

  Polled<Output> Poll(Context& cx) {
    using Turn = select_internal::SharedCore::Turn;
    CheckNotEmpty();
    if (!cx.HasBudget()) return kPending;
    switch (state_->core->Begin(node_, cx)) {
      case Turn::kWait:
        return kPending;
      case Turn::kPoll:
        if (!PollFuture(cx)) return kPending;
        break;
      case Turn::kDone:
        cx.Charge();
        break;
    }
    return state_->Get();
  }

  // See task/await_trace.h. Not of the future: another copy may be polling it.
  void Trace(AwaitTrace& trace) const { trace.AddFuture("Shared"); }

 private:
  struct State {
    explicit State(F&& from)
        : core(new select_internal::SharedCore()),
          future(std::in_place, std::move(from)) {}
    State(const State&) = delete;
    ~State() {
      future.reset();
      core->Unref();
    }

    Polled<Output> Get() {
      if (error != nullptr) std::rethrow_exception(error);
      if constexpr (std::is_void_v<Output>) {
        return Unit();
      } else {
        return Polled<Output>(*output);
      }
    }

    std::atomic<uint32_t> references{1};
    select_internal::SharedCore* const core;
    // The copy's whose turn it is; then, once it is done, constant.
    std::optional<F> future;
    std::optional<StoredOf<OutputOf<F>>> output;
    std::exception_ptr error;
  };

  // This copy has the turn. True if the output is there.
  bool PollFuture(Context& cx) {
    State& state = *state_;
    const BorrowedWaker waker(&select_internal::SharedCore::kWaker, state.core);
    Context inner = cx.WithWaker(waker.get());
    state.error = select_internal::CaughtPoll([&] {
      auto polled = state.future->Poll(inner);
      if (polled.IsReady()) state.output.emplace(TakeReady(std::move(polled)));
    });
    if (!state.output.has_value() && state.error == nullptr) {
      state.core->EndPending(node_, cx);
      return false;
    }
    state.future.reset();
    state.core->EndDone();
    return true;
  }
  void CheckNotEmpty() const {
    WEFT_CHECK(state_ != nullptr, "this copy of a Shared was moved from");
  }

  sync_internal::WaitNode node_;
  State* state_;
};

// `future`, to be copied.
template <Future F>
SharedFuture<F> Shared(F future) {
  return SharedFuture<F>(std::move(future));
}

}  // namespace weft

#endif  // WEFT_SELECT_SHARED_H_
