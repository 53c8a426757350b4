// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TickList: the Tick futures that wait for a task. Internal to the executor.
//
// Thread safety: any thread; no lock is held while a waker is called or
// destroyed. Lifetime: a waiter leaves before it ends.
#ifndef WEFT_EXECUTOR_TICK_LIST_H_
#define WEFT_EXECUTOR_TICK_LIST_H_

#include <mutex>

#include "weft/executor/idle_set.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

// A Tick future's place among those that wait.
struct TickWaiter {
  enum class State { kIdle, kWaiting, kNotified };

  State state = State::kIdle;  // all guarded by the list's mutex
  Waker waker;
  TickWaiter* previous = nullptr;
  TickWaiter* next = nullptr;
};

class TickList {
 public:
  // Those that wait are counted in `idle`.
  explicit TickList(IdleSet<>& idle) : idle_(idle) {}
  TickList(const TickList&) = delete;
  TickList& operator=(const TickList&) = delete;

  // `waiter` waits, behind the others unless it does already. The caller looks
  // for work afterwards.
  void Wait(TickWaiter& waiter, Waker waker);
  // Wakes who has waited longest; false if nobody waits.
  bool WakeOne();
  // `waiter` waits no more. True if it had been woken, so owes a look for work.
  bool Leave(TickWaiter& waiter);

 private:
  // Requires: the mutex is held, the waiter is linked.
  void Unlink(TickWaiter& waiter);

  IdleSet<>& idle_;
  std::mutex mutex_;  // guards the rest, and the waiters
  TickWaiter* first_ = nullptr;
  TickWaiter* last_ = nullptr;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TICK_LIST_H_
