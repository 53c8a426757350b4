// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BroadcastCursor: a receiver of a broadcast without the type of its messages.
// Internal; sync/broadcast_receiver.h is the receiver.
//
// Thread safety: one thread at a time.
// Dropping: as the receiver.
#ifndef WEFT_SYNC_BROADCAST_CURSOR_H_
#define WEFT_SYNC_BROADCAST_CURSOR_H_

#include <memory>
#include <utility>

#include "weft/sync/broadcast_core.h"
#include "weft/task/check.h"

namespace weft::sync_internal {

class BroadcastCursor {
 public:
  // Takes over a receiver that has been counted.
  BroadcastCursor(std::shared_ptr<BroadcastCore> core,
                  BroadcastCore::Position position)
      : core_(std::move(core)), position_(position) {}
  BroadcastCursor(const BroadcastCursor& other)
      : core_(other.core_), position_(other.position_) {
    if (core_ != nullptr) core_->CopyReceiver(position_);
  }
  BroadcastCursor(BroadcastCursor&&) noexcept = default;
  BroadcastCursor& operator=(BroadcastCursor other) noexcept {
    std::swap(core_, other.core_);
    std::swap(position_, other.position_);
    return *this;
  }
  ~BroadcastCursor() {
    if (core_ != nullptr) core_->DropReceiver(position_, false);
  }

  BroadcastCore& core() const {
    WEFT_CHECK(core_ != nullptr, "this end of a broadcast was moved from");
    return *core_;
  }
  const std::shared_ptr<BroadcastCore>& shared() const {
    core();
    return core_;
  }
  BroadcastCore::Position& position() { return position_; }
  const BroadcastCore::Position& position() const { return position_; }

  // The core, for an inactive receiver in this one's place.
  std::shared_ptr<BroadcastCore> Deactivate() && {
    core().DropReceiver(position_, true);
    return std::move(core_);
  }

 private:
  std::shared_ptr<BroadcastCore> core_;
  BroadcastCore::Position position_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_BROADCAST_CURSOR_H_
