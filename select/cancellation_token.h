// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CancellationSource and CancellationToken: asking work to stop.
//
//   CancellationSource shutdown;
//   Spawn(Serve(shutdown.token())).Detach();
//   ...
//   shutdown.Cancel();
//
//   Task<> Serve(CancellationToken stop) {
//     while (!stop.IsCancelled()) {
//       auto request = co_await stop.RunUntilCancelled(NextRequest());
//       if (!request.has_value()) break;
//       ...
//
// A source cancels; its tokens only know whether it did. A source made from a
// token is that token's child: it is cancelled with its parent, or by itself
// without touching its parent. Sources and tokens are handles: copies mean the
// same, and the tree keeps only what somebody has a handle of. When a source
// and its tokens are gone, its children are its parent's.
//
// To drop a future is to cancel it; a token is for what shall stop by itself:
// finish the request, then close. Dropping a source does not cancel: see
// CancelOnDrop(). Why it was cancelled is the token's reason(), which children
// have from their parents; timer/deadline_token.h cancels at a deadline.
//
// What happened before Cancel happens before whatever sees it.
//
// Thread safety: all methods from any thread; one handle object is not for
// simultaneous use and assignment.
// Lifetime: independent of each other.
#ifndef WEFT_SELECT_CANCELLATION_TOKEN_H_
#define WEFT_SELECT_CANCELLATION_TOKEN_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "weft/select/branch.h"
#include "weft/select/cancellation_callback.h"
#include "weft/select/cancellation_node.h"
#include "weft/select/guarded_poll.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft {

template <class F>
class RunUntilCancelledFuture;

// Ready when its token is cancelled; never if the token belongs to no source.
// Dropping: leaves the queue; nothing is lost.
class [[nodiscard]] CancelledFuture {
 public:
  using Output = void;

  explicit CancelledFuture(select_internal::CancellationRef node)
      : node_(std::move(node)) {}
  CancelledFuture(CancelledFuture&&) = default;
  CancelledFuture& operator=(CancelledFuture&&) = delete;
  ~CancelledFuture() {
    if (wait_.polled) node_->DropWait(wait_);
  }

  Polled<void> Poll(Context& cx) {
    if (!node_ || !node_->PollWait(wait_, cx)) return kPending;
    return Unit();
  }

 private:
  select_internal::CancellationRef node_;
  sync_internal::WaitNode wait_;
};

class CancellationToken {
 public:
  // Belongs to no source and is never cancelled.
  CancellationToken() = default;

  // One load.
  bool IsCancelled() const { return node_ && node_->IsCancelled(); }

  // What it was cancelled with; OK as long as it is not. Never changes then.
  absl::Status reason() const {
    return node_ ? node_->reason() : absl::OkStatus();
  }

  // Ready once cancelled. The future does not need this token any more.
  CancelledFuture Cancelled() const { return CancelledFuture(node_); }

  // Calls fn() once, when cancelled; see select/cancellation_callback.h.
  template <class Fn>
  CancellationCallback<Fn> OnCancel(Fn fn) const {
    return CancellationCallback<Fn>(node_, std::move(fn));
  }

  // The output of `future`, or nullopt if the token is cancelled first: then a
  // future that was given as an rvalue is dropped at once. Void is Unit, a
  // reference a reference_wrapper. The token is looked at first; the result does
  // not need it any more.
  template <select_internal::FutureArgument F>
  RunUntilCancelledFuture<F> RunUntilCancelled(F&& future) const {
    return RunUntilCancelledFuture<F>(Cancelled(), std::forward<F>(future));
  }

 private:
  friend class CancellationSource;
  explicit CancellationToken(select_internal::CancellationRef node)
      : node_(std::move(node)) {}

  select_internal::CancellationRef node_;
};

class CancellationSource {
 public:
  class DropGuard;

  CancellationSource() : node_(select_internal::CancellationNode::Make()) {}
  // A child of `parent`'s source, cancelled already if that one is.
  explicit CancellationSource(const CancellationToken& parent)
      : node_(parent.node_ ? parent.node_->MakeChild()
                           : select_internal::CancellationNode::Make()) {}

  // Cancels this source and all its descendants, then calls and wakes everybody
  // who waits for one of them, on this thread. Later calls have no effect: the
  // first reason stays. Requires: `reason` is not OK.
  void Cancel(const absl::Status& reason = CancelledStatus()) {
    node()->Cancel(reason);
  }
  bool IsCancelled() const { return node()->IsCancelled(); }

  CancellationToken token() const { return CancellationToken(node()); }

  // Cancels when destroyed.
  DropGuard CancelOnDrop() const;

 private:
  const select_internal::CancellationRef& node() const {
    WEFT_CHECK(static_cast<bool>(node_),
               "this CancellationSource was moved from");
    return node_;
  }

  select_internal::CancellationRef node_;
};

class [[nodiscard]] CancellationSource::DropGuard {
 public:
  explicit DropGuard(CancellationSource source) : source_(std::move(source)) {}
  DropGuard(DropGuard&& other) noexcept
      : source_(std::exchange(other.source_, std::nullopt)) {}
  DropGuard& operator=(DropGuard&& other) noexcept {
    std::swap(source_, other.source_);
    return *this;
  }
  ~DropGuard() {
    if (source_.has_value()) source_->Cancel();
  }

  // Does not cancel any more.
  void Disarm() { source_.reset(); }

 private:
  std::optional<CancellationSource> source_;
};

inline CancellationSource::DropGuard CancellationSource::CancelOnDrop() const {
  return DropGuard(*this);
}

// F is a future, or a reference to one. If it throws, this throws that.
// Dropping: drops a future held by value.
template <class F>
class [[nodiscard]] RunUntilCancelledFuture {
 public:
  using Output = std::optional<select_internal::StoredOutputOf<F>>;

  explicit RunUntilCancelledFuture(CancelledFuture cancelled, F&& future)
      : cancelled_(std::move(cancelled)), future_(std::forward<F>(future)) {}

  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    Output output;
    const bool finished = select_internal::GuardedPoll(
        [&] { return PollBoth(cx, output); }, [&] { Drop(); });
    if (!finished) return kPending;
    Drop();
    return output;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("RunUntilCancelled");
    const AwaitTrace::Scope scope(trace);
    select_internal::TraceBranch(future_, trace);
  }

 private:
  bool PollBoth(Context& cx, Output& output) {
    Context unlimited = cx.WithBudget(nullptr);
    if (cancelled_.Poll(unlimited).IsReady()) return true;
    auto polled = future_.Poll(cx);
    if (polled.IsPending()) return false;
    output.emplace(TakeReady(std::move(polled)));
    return true;
  }
  void Drop() {
    cancelled_.Drop();
    future_.Drop();
  }

  select_internal::Branch<CancelledFuture> cancelled_;
  select_internal::Branch<F> future_;
};

}  // namespace weft

#endif  // WEFT_SELECT_CANCELLATION_TOKEN_H_
