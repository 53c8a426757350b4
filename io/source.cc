// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A call is made under a use of the descriptor
// (io/descriptor_use.h): so Close() only marks it closed, tells the waiters,
// and leaves closing to the last use. Binding is decided under the cell's
// mutex. For the rest, see io/readiness.h and io/source_cell.cc.
#include "weft/io/source.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/default_reactor.h"
#include "weft/io/descriptor_use.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/reactor.h"
#include "weft/io/reactor_core.h"
#include "weft/io/readiness.h"
#include "weft/io/source_cell.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::io {
namespace {

using io_internal::AllocateSourceCell;
using io_internal::CloseResult;
using io_internal::kAlways;
using io_internal::kClosed;
using io_internal::kShutdown;
using io_internal::ReactorCore;
using io_internal::ReadinessSnapshot;
using io_internal::SourceCell;
using io_internal::WaitNode;

constexpr char kMovedFrom[] = "this Source was moved from";

// Nobody uses the descriptor any more: takes it from the reactor.
Fd TakeDescriptor(SourceCell& cell) {
  // Acquire: pairs with Register.
  ReactorCore* core = cell.core.load(std::memory_order_acquire);
  if (core != nullptr) core->Deregister(cell);
  Fd fd(cell.fd);
  // It was set by Create, so it can be cleared.
  if (cell.restore_blocking) SetNonBlocking(fd.get(), false).IgnoreError();
  return fd;
}

// A use of the descriptor that has begun; ends it also if the call throws.
class UseScope {
 public:
  explicit UseScope(SourceCell& cell) : cell_(cell) {}
  UseScope(const UseScope&) = delete;
  UseScope& operator=(const UseScope&) = delete;
  ~UseScope() {
    if (cell_.use.End()) TakeDescriptor(cell_).Reset();
  }

 private:
  SourceCell& cell_;
};

// Tells everybody who waits that the descriptor is closed.
void DeliverClosed(SourceCell& cell) {
  WakeList wakers;
  cell.Deliver(cell.readiness.Load().generation(), kClosed, wakers);
  wakers.WakeAll();
}

// Why a wait in this state is over.
IoResult ReasonOf(ReadinessSnapshot snapshot) {
  if (snapshot.Has(kClosed)) return IoResult::SourceClosed();
  if (snapshot.Has(kShutdown)) return IoResult::ReactorClosed();
  return IoResult::Of(0);
}

IoResult Call(SourceCell& cell, Source::Operation op) {
  if (!cell.use.Begin()) return IoResult::SourceClosed();
  const UseScope use(cell);
  for (;;) {
    const IoResult result = IoResult::Of(op(cell.fd));
    if (result.error() != EINTR) return result;
  }
}

IoResult Try(SourceCell& cell, Direction direction, Source::Operation op,
             size_t stream_length) {
  // Loaded before the call: see io/readiness.h. Without a reactor nothing is
  // known, and the call finds out. Acquire: pairs with Register.
  const bool bound = cell.core.load(std::memory_order_acquire) != nullptr;
  const ReadinessSnapshot seen = cell.readiness.Load();
  if (bound && !seen.IsReady(direction)) return IoResult::WouldBlockError();
  if (seen.Has(kShutdown)) return ReasonOf(seen);
  const IoResult result = Call(cell, op);
  if (!bound) return result;
  if (result.WouldBlock()) {
    cell.readiness.ClearBlocked(seen, direction);
  } else if (result.ok() && 0 < result.value() &&
             result.value() < stream_length) {
    cell.readiness.ClearDrained(seen, direction);
  }
  return result;
}

absl::StatusOr<ReactorCore*> FindCore(Context& cx) {
  if (Reactor* reactor = cx.Find(&Environment::reactor)) {
    return &reactor->core();
  }
  WEFT_CHECK(
      !cx.environment().is_simulated && !Environment::Current().is_simulated,
      "a descriptor was waited for in a DeterministicExecutor, whose runs "
      "could not be repeated then: simulate what is behind it "
      "(executor/event_source.h)");
  absl::StatusOr<Reactor*> reactor = io_internal::DefaultReactor();
  if (!reactor.ok()) return reactor.status();
  return &(*reactor)->core();
}

// Binds the cell to a reactor, unless it is bound.
IoResult Bind(SourceCell& cell, Context& cx) {
  absl::StatusOr<ReactorCore*> core = FindCore(cx);
  if (!core.ok()) return IoResult::Error(ErrnoOf(core.status()));
  if (!cell.use.Begin()) return IoResult::SourceClosed();
  const UseScope use(cell);
  std::lock_guard lock(cell.mutex);
  // Relaxed: it is set under this mutex.
  if (cell.core.load(std::memory_order_relaxed) != nullptr) {
    return IoResult::Of(0);
  }
  return (*core)->Register(cell);
}

// Leaves a waker in `slot` (and `node`, if any, in the list) unless the
// direction is ready; then says why.
Polled<IoResult> PollReady(SourceCell& cell, Context& cx, Direction direction,
                           Waker& slot, WaitNode* node) {
  ReadinessSnapshot seen = cell.readiness.Load();
  if (seen.IsReady(direction)) return ReasonOf(seen);
  // Acquire: pairs with Register.
  if (cell.core.load(std::memory_order_acquire) == nullptr) {
    const IoResult bound = Bind(cell, cx);
    if (!bound.ok()) return bound;
  }
  Waker waker;
  for (bool cloned = false;; cloned = true) {
    {
      std::lock_guard lock(cell.mutex);
      seen = cell.readiness.Load();
      if (seen.IsReady(direction)) return ReasonOf(seen);
      const bool kept = slot.WillWake(cx.waker());
      if (kept || cloned) {
        if (!kept) std::swap(slot, waker);
        if (node != nullptr && node->previous == nullptr) {
          cell.waiters.PushBack(*node);
        }
        return kPending;
      }
    }
    waker = cx.waker();  // cloned, and an old one dropped, with no lock held
  }
}

Polled<IoResult> PollIo(SourceCell& cell, Context& cx, Direction direction,
                        Source::Operation op, size_t stream_length, Waker& slot,
                        WaitNode* node) {
  if (!cx.HasBudget()) return kPending;
  for (;;) {
    const IoResult result = Try(cell, direction, op, stream_length);
    // What the kernel cannot watch cannot be waited for.
    if (!result.WouldBlock() || cell.readiness.Load().Has(kAlways)) {
      cx.Charge();
      return result;
    }
    const Polled<IoResult> ready = PollReady(cell, cx, direction, slot, node);
    if (ready.IsPending()) return kPending;
    if (!ready->ok()) {
      cx.Charge();
      return *ready;
    }
  }
}

Polled<absl::Status> PollReadyStatus(SourceCell& cell, Context& cx,
                                     Direction direction, Waker& slot,
                                     WaitNode* node) {
  if (!cx.HasBudget()) return kPending;
  const Polled<IoResult> ready = PollReady(cell, cx, direction, slot, node);
  if (ready.IsPending()) return kPending;
  cx.Charge();
  return ready->status("watching the descriptor");
}

Waker& SlotOf(SourceCell& cell, Direction direction) {
  return cell.slots[static_cast<size_t>(direction)];
}

}  // namespace

absl::StatusOr<Source> Source::Create(Fd fd) {
  absl::StatusOr<bool> changed = SetNonBlocking(fd.get(), true);
  if (!changed.ok()) return changed.status();
  return Source(AllocateSourceCell(fd.Release(), *changed));
}

Source Source::Adopt(Fd fd) {
  return Source(AllocateSourceCell(fd.Release(), false));
}

Source::~Source() {
  if (cell_ == nullptr) return;
  Close();
  cell_->Unref();
}

IoResult Source::TryIo(Direction direction, Operation op,
                       size_t stream_length) {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  return Try(*cell_, direction, op, stream_length);
}

Polled<IoResult> Source::PollIo(Context& cx, Direction direction, Operation op,
                                size_t stream_length) {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  return io::PollIo(*cell_, cx, direction, op, stream_length,
                    SlotOf(*cell_, direction), nullptr);
}

Polled<absl::Status> Source::PollReadable(Context& cx) {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  constexpr Direction direction = Direction::kRead;
  return PollReadyStatus(*cell_, cx, direction, SlotOf(*cell_, direction),
                         nullptr);
}

Polled<absl::Status> Source::PollWritable(Context& cx) {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  constexpr Direction direction = Direction::kWrite;
  return PollReadyStatus(*cell_, cx, direction, SlotOf(*cell_, direction),
                         nullptr);
}

ReadinessFuture Source::Readable() {
  return ReadinessFuture(*this, Direction::kRead);
}

ReadinessFuture Source::Writable() {
  return ReadinessFuture(*this, Direction::kWrite);
}

IoResult Source::Call(Operation op) {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  return io::Call(*cell_, op);
}

void Source::Close() {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  const CloseResult result = cell_->use.Close();
  if (result == CloseResult::kAlreadyClosed) return;
  if (result == CloseResult::kCloseNow) TakeDescriptor(*cell_).Reset();
  DeliverClosed(*cell_);
}

bool Source::IsClosed() const {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  return cell_->use.IsClosed();
}

Fd Source::IntoFd() && {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  SourceCell& cell = *std::exchange(cell_, nullptr);
  Fd fd;
  if (cell.use.BeginTake()) {
    // A use is one non-blocking system call: it ends soon.
    while (!cell.use.TryTake()) sched_yield();
    fd = TakeDescriptor(cell);
    DeliverClosed(cell);
  }
  cell.Unref();
  return fd;
}

namespace io_internal {

SourceWait::SourceWait(Source& source, Direction direction)
    : cell_(source.cell_), node_(direction) {
  WEFT_CHECK(cell_ != nullptr, kMovedFrom);
  cell_->Ref();
}

SourceWait::SourceWait(SourceWait&& other) noexcept
    : cell_(std::exchange(other.cell_, nullptr)), node_(other.direction()) {
  // Only the polling thread links the node or fills its waker, so that much may
  // be looked at without the mutex.
  WEFT_CHECK(other.node_.previous == nullptr && !other.node_.waker,
             "a wait for a descriptor was moved after it was polled: keep it "
             "where it is, or move a Task that awaits it");
}

SourceWait::~SourceWait() {
  if (cell_ == nullptr) return;
  {
    std::lock_guard lock(cell_->mutex);
    WaitQueue::Remove(node_);
  }
  cell_->Unref();
}

Polled<IoResult> SourceWait::PollReady(Context& cx) {
  return io::PollReady(*cell_, cx, direction(), node_.waker, &node_);
}

Polled<IoResult> SourceWait::PollIo(Context& cx, Source::Operation op) {
  return io::PollIo(*cell_, cx, direction(), op, 0, node_.waker, &node_);
}

}  // namespace io_internal

Polled<absl::Status> ReadinessFuture::Poll(Context& cx) {
  if (!cx.HasBudget()) return kPending;
  const Polled<IoResult> ready = wait_.PollReady(cx);
  if (ready.IsPending()) return kPending;
  cx.Charge();
  return ready->status("watching the descriptor");
}

}  // namespace weft::io
