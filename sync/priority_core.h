// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PriorityCore: what the ends of a priority channel share. Internal;
// sync/priority_channel.h is the channel.
//
// Messages are made and destroyed by the ends; here they are pointers and ranks,
// which is why no user's code can run under the lock. That is the lock of the lists
// of sleepers, of which sync/channel_waits.h tells the rules: a value wakes the
// receiver that has slept longest, room the sender, and both try again.
//
// Thread safety: all methods from any thread; a node by one thread at a time.
// Lifetime: goes with the last sender and the last receiver.
#ifndef WEFT_SYNC_PRIORITY_CORE_H_
#define WEFT_SYNC_PRIORITY_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/sync/channel_waits.h"
#include "weft/sync/end_count.h"
#include "weft/sync/priority_heap.h"
#include "weft/sync/priority_message.h"
#include "weft/sync/queue_step.h"
#include "weft/task/context.h"

namespace weft::sync_internal {

// Makes the ends of a priority channel; see sync/priority_channel.h.
struct PriorityAccess;

class PriorityCore {
 public:
  static constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();

  // With one sender and one receiver.
  explicit PriorityCore(size_t capacity) : capacity_(capacity) {}
  PriorityCore(const PriorityCore&) = delete;
  PriorityCore& operator=(const PriorityCore&) = delete;

  size_t capacity() const { return capacity_; }
  size_t Size() const;
  bool IsClosed() const;

  // Takes `message` over if kDone. Never kBusy, nor are those below.
  QueueResult Push(PriorityMessage& message);
  // The same; without room, the last message gives way, which is `displaced` then and
  // the caller's; kNotNow if `message` itself would be the last.
  QueueResult ForcePush(PriorityMessage& message, PriorityMessage*& displaced);
  // The first message, which is the caller's, if kDone.
  QueueResult Pop(PriorityMessage*& message);
  // True if this call has closed it.
  bool Close();

  // Sleeping, until a message, room or the end comes. False if it has come.
  bool SleepAsReceiver(ChannelNode& node, Context& cx);
  bool SleepAsSender(ChannelNode& node, Context& cx);
  bool SleepUntilClosed(ChannelNode& node, Context& cx);
  // `node`'s owner got what it wanted, or the end; or it gives up.
  void FinishReceiver(ChannelNode& node);
  void FinishSender(ChannelNode& node);
  void DropReceiver(ChannelNode& node);
  void DropSender(ChannelNode& node);
  void DropCloser(ChannelNode& node);

  EndCount& senders() { return senders_; }
  EndCount& receivers() { return receivers_; }

  // The last end of one side is gone. After the second call so is the core, which is
  // empty: the last receiver saw to that.
  void ReleaseSide();

 private:
  bool IsFull() const { return heap_.size() >= capacity_; }

  const size_t capacity_;
  EndCount senders_;
  EndCount receivers_;
  std::atomic<int> sides_{2};

  mutable ChannelWaits waits_;
  // Both guarded by `waits_.mutex`.
  bool closed_ = false;
  PriorityHeap heap_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_PRIORITY_CORE_H_
