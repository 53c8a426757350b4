// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendResult: whether a value was sent, and the value if it was not.
//
//   auto sent = sender.TrySend(std::move(job));
//   if (sent.IsFull()) backlog.push_back(std::move(sent).TakeValue());
//
// Thread safety: one thread at a time.
#ifndef WEFT_SYNC_SEND_RESULT_H_
#define WEFT_SYNC_SEND_RESULT_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "weft/task/check.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class [[nodiscard]] SendResult {
 public:
  // It was sent.
  SendResult() = default;
  static SendResult Full(T&& value) {
    return SendResult(std::move(value), false);
  }
  static SendResult Closed(T&& value) {
    return SendResult(std::move(value), true);
  }
  // Not as they come by default: of what is large and plain that would copy all of
  // it, even if it is not there.
  SendResult(SendResult&& other) noexcept : closed_(other.closed_) {
    if (!other.ok()) unsent_.emplace(*std::move(other.unsent_));
  }
  SendResult& operator=(SendResult&& other) noexcept {
    unsent_.reset();
    if (!other.ok()) unsent_.emplace(*std::move(other.unsent_));
    closed_ = other.closed_;
    return *this;
  }

  bool ok() const { return !unsent_.has_value(); }
  // There was no room; only where it was not waited for.
  bool IsFull() const { return !ok() && !closed_; }
  // Nobody will receive any more.
  bool IsClosed() const { return !ok() && closed_; }
  // OK, RefusedStatus() or ClosedStatus().
  absl::Status status() const {
    if (ok()) return absl::OkStatus();
    return closed_ ? ClosedStatus() : RefusedStatus();
  }

  // The value that was not sent. Requires: !ok().
  T TakeValue() && {
    WEFT_CHECK(!ok(),
               "TakeValue() of a SendResult that is ok(): what was sent is "
               "the receiver's");
    return *std::move(unsent_);
  }

 private:
  SendResult(T&& unsent, bool closed)
      : unsent_(std::move(unsent)), closed_(closed) {}

  std::optional<T> unsent_;
  bool closed_ = false;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_SEND_RESULT_H_
