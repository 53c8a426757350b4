// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The untyped core of Task: promises, roots, leaves, links. Internal; the state
// machine is explained in docs/design/task.md.
//
// Layouts and inline bodies here depend on the compiler's identity alone, never
// on its flags: objects built with different ones link together.
#ifndef WEFT_TASK_TASK_PROMISE_H_
#define WEFT_TASK_TASK_PROMISE_H_

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/frame_cache.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"

namespace weft {
template <class T>
class Task;

namespace task_internal {

template <class T>
class Promise;
template <class T>
class TaskAwaiter;

struct PromiseBase;

// The innermost pending wait of a root. Lives in the awaiter of the suspended
// coroutine, of which every task's frame has some: it is kept small.
struct Leaf {
  // Polls what is awaited; true when it is ready. Where that throws, the coroutine
  // is resumed, and calls RethrowFromPoll(). With a trace it adds what is awaited
  // to that and does nothing else: one function, as leaves are kept small.
  using PollFunction = bool (*)(Leaf* leaf, Context* cx, AwaitTrace* trace);

  Leaf(PollFunction poll, PromiseBase& promise)
      : poll(poll), promise(&promise) {}

  PollFunction poll;
  union {
    PromiseBase* promise;  // of the coroutine, before it is suspended
    std::coroutine_handle<> coroutine;  // resumed when ready
  };
};

// Lives in the awaiter of a nested task, in its parent's frame, and owns the
// child's frame.
struct Link {
  std::coroutine_handle<> child;
  std::coroutine_handle<> parent;
};

// Where a root is: in a leaf that is pending or being polled, or in a coroutine that
// runs. One word, so that a signal that interrupts a poll always finds a frame
// that is alive, with links up to the root (see Trace()).
class Position {
 public:
  // Null if a coroutine runs, or nothing has been started.
  Leaf* leaf() const {
    const uintptr_t word = Load();
    return (word & kRuns) == 0 ? reinterpret_cast<Leaf*>(word) : nullptr;
  }
  void Set(Leaf* leaf) { Store(reinterpret_cast<uintptr_t>(leaf)); }
  // Null if it is in a leaf, or nothing has been started.
  std::coroutine_handle<> running() const {
    const uintptr_t word = Load();
    return (word & kRuns) == 0 ? nullptr
                               : std::coroutine_handle<>::from_address(
                                     reinterpret_cast<void*>(word - kRuns));
  }
  void Set(std::coroutine_handle<> running) {
    Store(reinterpret_cast<uintptr_t>(running.address()) | kRuns);
  }

 private:
  static constexpr uintptr_t kRuns = 1;
  // Relaxed: one thread, and signals to it.
  uintptr_t Load() const { return word_.load(std::memory_order_relaxed); }
  void Store(uintptr_t word) { word_.store(word, std::memory_order_relaxed); }

  std::atomic<uintptr_t> word_{0};
};

// How control goes from one coroutine of a root to another. clang makes a tail
// call of it in every mode. g++ does so only under flags that no macro tells,
// so there the root's loop in DriveRoot resumes the next one.
#if defined(__clang__)
#define WEFT_SYMMETRIC_TRANSFER 1
using Transfer = std::coroutine_handle<>;
#else
#define WEFT_SYMMETRIC_TRANSFER 0
using Transfer = void;
#endif

struct PromiseBase {
  static void* operator new(size_t size) { return AllocateFrame(size); }
  static void operator delete(void* frame, size_t size) {
    FreeFrame(frame, size);
  }

  // Goes back to the parent; a root's end is seen by DriveRoot.
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class P>
    Transfer await_suspend(std::coroutine_handle<P> coroutine) noexcept {
      PromiseBase& promise = coroutine.promise();
#if WEFT_SYMMETRIC_TRANSFER
      if (promise.root == &promise) return std::noop_coroutine();
#else
      if (promise.root == &promise) return;
#endif
      const std::coroutine_handle<> parent = promise.link->parent;
      promise.root->position.Set(parent);
#if WEFT_SYMMETRIC_TRANSFER
      return parent;
#else
      promise.root->next = parent;
#endif
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }

  // Null: never started. This: a root. Else: the root that this is part of.
  PromiseBase* root = nullptr;
  union {
    Link* link;                  // part of another root
    Context* context = nullptr;  // a root: the current poll's; null outside
  };
  Position position;  // a root's, from its first poll on
  // The co_await that the coroutine has come to last.
  SourceLocation awaits;
#if !WEFT_SYMMETRIC_TRANSFER
  std::coroutine_handle<> next;  // a root that is running: what to resume next
#endif
  bool borrows = false;
  enum class Result : uint8_t { kNone, kValue, kException };
  Result result = Result::kNone;
};

// Polls the coroutine as a root. True when it has finished.
bool DriveRoot(std::coroutine_handle<> coroutine, PromiseBase& promise,
               Context& cx);
template <class P>
bool DriveRoot(std::coroutine_handle<P> coroutine, Context& cx) {
  return DriveRoot(coroutine, coroutine.promise(), cx);
}

// Makes link.child part of the root of `awaiter` and lets it run: from its
// start, or, if it has been polled before, from its leaf.
Transfer EnterChild(Link& link, std::coroutine_handle<> awaiter,
                    PromiseBase& promise);

// Adds the lines of a coroutine that is a root, or may become one.
void TraceRoot(std::coroutine_handle<> coroutine, AwaitTrace& trace);

// Destroys a coroutine and, if it is a suspended root, every coroutine in it,
// innermost first and without recursion.
void DestroyCoroutine(std::coroutine_handle<> coroutine);

[[noreturn]] void Rethrow(std::exception_ptr exception);
// What a leaf's poll has just thrown on this thread.
[[noreturn]] void RethrowFromPoll();

template <class T>
class PromiseWithResult : public PromiseBase {
 public:
  PromiseWithResult() {}
  ~PromiseWithResult() {
    if (result == Result::kValue) std::destroy_at(std::addressof(value_));
    if (result == Result::kException)
      std::destroy_at(std::addressof(exception_));
  }

  void unhandled_exception() noexcept {
    // The destructor of a local threw after co_return had stored the value.
    if (result == Result::kValue) std::destroy_at(std::addressof(value_));
    new (std::addressof(exception_))
        std::exception_ptr(std::current_exception());
    result = Result::kException;
  }
  template <class U = T>
    requires std::is_convertible_v<U&&, T>
  void return_value(U&& value) {
    new (std::addressof(value_)) Stored(Store(std::forward<U>(value)));
    result = Result::kValue;
  }

  // Requires: the coroutine has finished. Throws what it threw.
  Polled<T> TakeResult() {
    if (result == Result::kException) Rethrow(std::move(exception_));
    if constexpr (std::is_reference_v<T>) {
      return *value_;
    } else {
      return std::move(value_);
    }
  }

 private:
  using Stored = std::conditional_t<std::is_reference_v<T>,
                                    std::remove_reference_t<T>*, T>;
  // A frame is aligned as by malloc, and the promise is found by that.
  static_assert(alignof(Stored) <= kFrameAlignment,
                "the output of a Task cannot be over-aligned: return it in a "
                "std::unique_ptr");
  template <class U>
  static Stored Store(U&& value) {
    if constexpr (std::is_reference_v<T>) {
      return std::addressof(static_cast<T>(value));
    } else {
      return Stored(std::forward<U>(value));
    }
  }

  union {
    Stored value_;
    std::exception_ptr exception_;
  };
};

template <>
class PromiseWithResult<void> : public PromiseBase {
 public:
  void unhandled_exception() noexcept {
    exception_ = std::current_exception();
    result = Result::kException;
  }
  void return_void() noexcept { result = Result::kValue; }

  Polled<void> TakeResult() {
    if (result == Result::kException) Rethrow(std::move(exception_));
    return Unit();
  }

 private:
  std::exception_ptr exception_;
};

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_TASK_PROMISE_H_
