// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BroadcastCore: what the ends of a broadcast share, whatever the type of its
// messages. Internal; sync/broadcast.h is the broadcast.
//
// Messages have numbers, from 0. Those that somebody has still to read, from
// `head_` to `tail_`, are in a ring; each counts its readers, and leaves it with
// the last one. A receiver is the number of its next message. One that comes
// starts at the tail, so who has not read a message has not read those behind it
// either: the slots that are free are always those in front.
//
// The message of a sender that waits is in the sender's node. Whoever makes room
// puts it into the ring on the sender's behalf, in order.
//
// Messages are shared and immutable: under the mutex, pointers are copied and
// moved, but none is dropped.
//
// Thread safety: all methods from any thread.
// Lifetime: shared by the ends and the futures of senders.
#ifndef WEFT_SYNC_BROADCAST_CORE_H_
#define WEFT_SYNC_BROADCAST_CORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weft/sync/broadcast_options.h"
#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"

namespace weft::sync_internal {

class BroadcastCore {
 public:
  using Message = std::shared_ptr<const void>;

  enum class Sent { kNotYet, kSent, kClosed };
  enum class Taken { kNothing, kMessage, kLagged, kClosed };

  // A sender that waits, with the message to be sent.
  struct Sending : WaitNode {
    explicit Sending(Message message) : message(std::move(message)) {}
    Sending(Sending&&) = default;

    Message message;
    bool sent = false;  // written by whoever releases the node
  };

  // A receiver.
  struct Position {
    uint64_t next = 0;
    uint64_t lag = 0;  // as many messages were lost when it last lagged
  };

  // Has one sender and one receiver, at the default position.
  BroadcastCore(size_t capacity, const sync::BroadcastOptions& options);
  BroadcastCore(const BroadcastCore&) = delete;
  BroadcastCore& operator=(const BroadcastCore&) = delete;

  // Sends `*message`, unless it would have to wait, and empties it.
  Sent TrySend(Message* message);
  Sent PollSend(Sending& node, Context& cx);
  void DropSend(Sending& node);

  // Takes the next message, or moves behind those that are lost.
  Taken TryTake(Position& position, Message* message);
  Taken PollTake(WaitNode& node, Position& position, Message* message,
                 Context& cx);
  void DropTake(WaitNode& node);

  // True once nobody receives or the broadcast is closed.
  bool PollUnheard(WaitNode& node, Context& cx);
  void DropUnheardWait(WaitNode& node);

  void AddSender();
  // False if the broadcast is closed.
  bool TryAddSender();
  void DropSender();
  void Close();

  // A receiver that reads what is sent from now on; one that was inactive if
  // `activates`.
  Position AddReceiver(bool activates);
  // One more receiver at `position`.
  void CopyReceiver(const Position& position);
  // A receiver goes, or becomes an inactive one.
  void DropReceiver(const Position& position, bool deactivates);
  void AddInactive();
  void DropInactive();

  void SetCapacity(size_t capacity);

  struct Counts {
    size_t capacity;
    size_t length;
    size_t senders;
    size_t receivers;
    size_t inactive;
    bool closed;
  };
  Counts GetCounts() const;
  // How many messages are there for a receiver.
  size_t LengthFor(const Position& position) const;

 private:
  struct Slot {
    Message message;
    size_t readers = 0;  // who have still to read it
  };

  // All that follows requires the mutex.
  Slot& At(uint64_t number) { return slots_[number & (slots_.size() - 1)]; }
  size_t length() const { return static_cast<size_t>(tail_ - head_); }
  bool IsUnheard() const { return closed_ || receivers_ + inactive_ == 0; }
  bool HasRoom() const;
  Taken Take(Position& position, Message* message);
  // Returns the oldest message if that had to make room, else null. Requires:
  // HasRoom().
  Message Push(Message&& message);
  size_t CountServed() const;
  // Releases, as closed, who need not wait any longer, if IsUnheard(). Requires:
  // there is room.
  void ReleaseUnheard(WakeBatch& wakers);
  size_t CountUnheard() const;

  // Puts messages of waiting senders into the ring while there is room. Requires:
  // the mutex is not held.
  void ServeSenders();

  const sync::BroadcastOptions options_;
  mutable SmallMutex mutex_;
  // Guarded by `mutex_`. Their number is a power of two, and not less than
  // `capacity_` or the number of messages.
  std::vector<Slot> slots_;
  size_t capacity_;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
  size_t senders_ = 1;
  size_t receivers_ = 1;
  size_t inactive_ = 0;
  bool closed_ = false;
  WaitQueue take_waiters_;
  WaitQueue send_waiters_;  // nodes are Sendings
  WaitQueue unheard_waiters_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_BROADCAST_CORE_H_
