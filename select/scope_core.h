// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ScopeCore: the children of a Scope, of which only those that were woken are
// polled. Internal.
//
// A child is polled with a waker of its own, which puts it into the list of the
// woken and wakes the task that polls the scope. Wakers are counted references
// to the child's memory; its future is gone as soon as it has ended.
//
// All but Wake() and the results belong to whoever polls the scope. The mutex
// guards what wakers touch; no user code runs under it.
//
// Thread safety: Wake() and the results from any thread; the rest by one thread
// at a time.
// Lifetime: counted; children have references.
#ifndef WEFT_SELECT_SCOPE_CORE_H_
#define WEFT_SELECT_SCOPE_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/counted_ref.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

class ScopeCore;

class ScopeChild {
 public:
  ScopeChild(const ScopeChild&) = delete;
  ScopeChild& operator=(const ScopeChild&) = delete;

  // Relaxed: a new reference is made from an existing one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // One poll of whoever awaits the child; true once its future is gone. An empty
  // waker stands for nobody.
  bool PollDone(const Waker& waker);

  virtual void Trace(AwaitTrace& trace) const = 0;

 protected:
  explicit ScopeChild(task_internal::CountedRef<ScopeCore> core)
      : core_(std::move(core)) {}
  virtual ~ScopeChild() = default;

 private:
  friend ScopeCore;
  static const WakerVTable kVTable;

  // True once the future has ended; then its output is in place.
  virtual bool PollFuture(Context& cx) = 0;
  virtual void DropFuture() = 0;

  std::atomic<uint32_t> references_{1};
  const task_internal::CountedRef<ScopeCore> core_;

  // Whoever polls the scope has these.
  ScopeChild* previous_ = nullptr;
  ScopeChild* next_ = nullptr;

  // Guarded by the core's mutex.
  bool woken_ = false;
  bool done_ = false;
  ScopeChild* next_woken_ = nullptr;
  Waker awaiter_;
};

class ScopeCore {
 public:
  ScopeCore() = default;
  ScopeCore(const ScopeCore&) = delete;
  ScopeCore& operator=(const ScopeCore&) = delete;

  // Relaxed: as above.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // Takes a child over, which is polled in the poll that is under way, or the
  // next one. Drops its future at once if DropAll() was called. The body counts as
  // the oldest child, whatever its function has started.
  void Add(task_internal::CountedRef<ScopeChild> child, bool is_body);

  // Polls who was woken, kMaxPolls of them at most; the rest in the next poll. True
  // once no child is left, or one has thrown: that is in `exception` then, and the
  // others are dropped.
  bool PollAll(Context& cx, std::exception_ptr& exception);

  // Drops the futures of all children, the newest one first.
  void DropAll();

  void Trace(AwaitTrace& trace) const;

 private:
  friend ScopeChild;

  static constexpr size_t kMaxPolls = 256;

  // Children linked by next_woken_, each with a reference. None of them can be
  // woken again.
  struct WokenList {
    ScopeChild* first = nullptr;
    ScopeChild* last = nullptr;  // valid while `first` is not null
  };

  ~ScopeCore() = default;

  void Wake(ScopeChild& child);
  // The woken ones, in order. A poll is under way from then on.
  WokenList TakeWoken();
  // Polls a list of TakeWoken(), and counts that in `polls`; puts back what is
  // too much. True if any of them has ended.
  bool PollBatch(Context& cx, WokenList batch, size_t& polls,
                 std::exception_ptr& exception);
  void PutBack(WokenList batch);
  // The child's future is gone.
  void Remove(ScopeChild& child);

  std::atomic<uint32_t> references_{1};

  // Whoever polls the scope has these: all children, from the oldest on.
  ScopeChild* first_ = nullptr;
  ScopeChild* last_ = nullptr;
  bool added_ = false;    // since the last batch was taken
  bool dropped_ = false;  // DropAll() was called

  std::mutex mutex_;
  // Under `mutex_`.
  bool polling_ = false;  // a poll is under way, and looks for the woken itself
  WokenList woken_;
  Waker parent_;  // empty once it was woken
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_SCOPE_CORE_H_
