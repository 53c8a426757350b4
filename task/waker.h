// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Waker: "whoever drives this, poll it again".
//
// A waker is two words, a data pointer and a table of functions. Nothing in it
// knows the future, and nothing in a future knows what its waker does: schedule
// a task, unpark a thread, resume a fiber, post to a foreign loop.
//
// A Waker owns one counted reference to its target's state. That state lives on
// the heap or in a pool, never in a frame or on a stack, since a waker may fire
// after its target is gone. Whoever polls a future usually owns no reference of
// its own: it lends one through a BorrowedWaker, whose clone makes the counted
// reference (and may make the state itself, so that sub-wakers cost nothing
// until somebody keeps one).
//
// Waking is sticky: a wake during a poll leads to another poll. Waking more
// than once, or after the target has finished, is harmless. What happened
// before a wake happens before the poll that it leads to.
//
// Thread safety: any operation from any thread; one Waker object is not for
// simultaneous use without a lock.
// Lifetime: independent of everything.
//
//   if (!waker_.WillWake(cx.waker())) waker_ = cx.waker();   // keep
//   ...
//   std::exchange(waker_, Waker()).Wake();                    // later
#ifndef WEFT_TASK_WAKER_H_
#define WEFT_TASK_WAKER_H_

#include <utility>

namespace weft {

class Waker;

// The operations of one kind of waker. Tables are constants with static
// storage; their address is part of a waker's identity. No function may throw.
struct WakerVTable {
  // A waker for the same target that owns a reference of its own.
  Waker (*clone)(void* data);
  // Wakes and gives up the reference that `data` stands for.
  void (*wake)(void* data);
  // Wakes and keeps the reference.
  void (*wake_by_ref)(void* data);
  // Gives up the reference.
  void (*drop)(void* data);
};

class Waker {
 public:
  // Wakes nobody.
  constexpr Waker() = default;
  // Takes over one reference of `data`. Requires: `vtable` lives forever.
  constexpr Waker(const WakerVTable* vtable, void* data)
      : vtable_(vtable), data_(data) {}

  Waker(const Waker& other)
      : Waker(other.vtable_ == nullptr ? Waker()
                                       : other.vtable_->clone(other.data_)) {}
  Waker(Waker&& other) noexcept
      : vtable_(std::exchange(other.vtable_, nullptr)), data_(other.data_) {}
  Waker& operator=(Waker other) noexcept {
    std::swap(vtable_, other.vtable_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Waker() {
    if (vtable_ != nullptr) vtable_->drop(data_);
  }

  // Wakes the target and leaves this waker empty; cheaper than WakeByRef
  // followed by destruction. An empty waker does nothing.
  void Wake() && {
    if (const WakerVTable* vtable = std::exchange(vtable_, nullptr)) {
      vtable->wake(data_);
    }
  }

  // Wakes the target and keeps the reference.
  void WakeByRef() const {
    if (vtable_ != nullptr) vtable_->wake_by_ref(data_);
  }

  // True if waking either has the same effect. False negatives are allowed.
  bool WillWake(const Waker& other) const {
    return vtable_ == other.vtable_ && data_ == other.data_;
  }

  // True unless empty.
  explicit operator bool() const { return vtable_ != nullptr; }

  const WakerVTable* vtable() const { return vtable_; }
  void* data() const { return data_; }

 private:
  const WakerVTable* vtable_ = nullptr;
  void* data_ = nullptr;
};

// A waker that owns no reference: what a poll lends to the future it polls.
// Requires: `data` stays valid while this object lives. Clones count as usual.
class BorrowedWaker {
 public:
  BorrowedWaker(const WakerVTable* vtable, void* data) : waker_(vtable, data) {}
  BorrowedWaker(const BorrowedWaker&) =
      delete;          // the context holds its address
  ~BorrowedWaker() {}  // drops no reference

  const Waker& get() const { return waker_; }

 private:
  union {
    Waker waker_;
  };
};

// A waker that does nothing; to poll a future by hand.
const Waker& NoopWaker();

}  // namespace weft

#endif  // WEFT_TASK_WAKER_H_
