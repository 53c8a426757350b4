// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedQueue: what has arrived at a port, and who waits for it. Internal.
//
//   queue_.Push(std::move(message));
//   ...
//   Polled<std::optional<Message>> polled = wait_.Poll(cx);
//   if (polled.IsReady() && !polled->has_value()) ...  // closed
//
// Thread safety: none; any number may wait.
// Lifetime: outlives its waits.
// Dropping: of a wait, nothing is lost: what it was woken for goes to the next one.
#ifndef WEFT_NET_SIMULATED_QUEUE_H_
#define WEFT_NET_SIMULATED_QUEUE_H_

#include <deque>
#include <optional>
#include <utility>

#include "weft/sync/event.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net_internal {

template <class T>
class SimulatedQueue {
 public:
  class Wait;

  void Push(T item) {
    items_.push_back(std::move(item));
    arrived_.Notify();
  }

  // What has waited longest; nothing if nothing waits.
  std::optional<T> Take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  // Ends the waits that find nothing.
  void Close() {
    closed_ = true;
    arrived_.Set();
  }
  bool is_closed() const { return closed_; }

 private:
  std::deque<T> items_;
  bool closed_ = false;
  sync::Event arrived_;  // notified for each; set when closed
};

// Movable until first polled.
template <class T>
class SimulatedQueue<T>::Wait {
 public:
  explicit Wait(SimulatedQueue& queue) : queue_(queue) {}

  // Ready with what has arrived, or with nothing if the queue is closed. Whoever
  // comes first takes what is there; one who was woken and finds nothing waits again.
  Polled<std::optional<T>> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    // The unit of budget is for the item.
    Context inner = cx.WithBudget(nullptr);
    for (;;) {
      std::optional<T> item = queue_.Take();
      if (item.has_value() || queue_.is_closed()) {
        wait_.reset();
        cx.Charge();
        return item;
      }
      if (!wait_.has_value()) wait_.emplace(queue_.arrived_.Wait());
      if (wait_->Poll(inner).IsPending()) return kPending;
      wait_.reset();
    }
  }

 private:
  SimulatedQueue& queue_;
  std::optional<sync::Event::WaitFuture> wait_;
};

}  // namespace weft::net_internal

#endif  // WEFT_NET_SIMULATED_QUEUE_H_
