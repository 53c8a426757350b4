// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/task_promise.h"

namespace weft::task_internal {
namespace {

// Every Promise<T> starts with its PromiseBase and none is over-aligned, so the
// base is found from an untyped handle.
PromiseBase& PromiseOf(std::coroutine_handle<> coroutine) {
  return std::coroutine_handle<PromiseBase>::from_address(coroutine.address())
      .promise();
}

// From a leaf's poll to its coroutine, which is resumed at once. Needs no memory, which
// may be what was wanting, and no destructor: frames may be polled by those of other
// thread-locals.
union ThrownByPoll {
  constexpr ThrownByPoll() : none() {}
  ~ThrownByPoll() {}
  char none;
  std::exception_ptr exception;
};
constinit thread_local ThrownByPoll thrown_by_poll;

bool PollLeaf(Leaf* leaf, Context& cx) {
#if defined(__cpp_exceptions)
  try {
    return leaf->poll(leaf, &cx, /*trace=*/nullptr);
  } catch (...) {
    std::construct_at(&thrown_by_poll.exception, std::current_exception());
    return true;
  }
#else
  return leaf->poll(leaf, &cx, /*trace=*/nullptr);
#endif
}

void Resume(PromiseBase& root, std::coroutine_handle<> coroutine) {
  root.position.Set(coroutine);
#if WEFT_SYMMETRIC_TRANSFER
  static_cast<void>(root);
  coroutine.resume();
#else
  root.next = coroutine;
  while (root.next) std::exchange(root.next, nullptr).resume();
#endif
}

// Makes everything from `child` down to its leaf part of `root`. The child was
// a suspended root.
void Adopt(PromiseBase& root, std::coroutine_handle<> child, Link& link) {
  PromiseBase& child_promise = PromiseOf(child);
  Leaf* leaf = child_promise.position.leaf();
  std::coroutine_handle<> at = leaf->coroutine;
  while (at != child) {
    PromiseBase& promise = PromiseOf(at);
    promise.root = &root;
    at = promise.link->parent;
  }
  child_promise.position.Set(nullptr);
  child_promise.root = &root;
  child_promise.link = &link;
  // Last: a signal may look at any moment.
  std::atomic_signal_fence(std::memory_order_release);
  root.position.Set(leaf);
}

// The coroutines of a root, outermost first; of a deep one both ends.
struct Coroutines {
  static constexpr size_t kEnd = 24;

  std::array<const PromiseBase*, 2 * kEnd> promises{};
  size_t count = 0;
  size_t skipped = 0;  // behind the first kEnd
};

Coroutines CoroutinesFrom(std::coroutine_handle<> innermost,
                          std::coroutine_handle<> root) {
  // Links lead outwards.
  size_t all = 1;
  for (auto at = innermost; at != root; at = PromiseOf(at).link->parent) ++all;
  Coroutines found;
  found.count = std::min(all, found.promises.size());
  found.skipped = all - found.count;
  std::coroutine_handle<> at = innermost;
  for (size_t i = all; i > 0; --i) {
    if (i <= Coroutines::kEnd) found.promises[i - 1] = &PromiseOf(at);
    if (i > Coroutines::kEnd + found.skipped) {
      found.promises[i - 1 - found.skipped] = &PromiseOf(at);
    }
    if (i > 1) at = PromiseOf(at).link->parent;
  }
  return found;
}

}  // namespace

bool DriveRoot(std::coroutine_handle<> coroutine, PromiseBase& root,
               Context& cx) {
  WEFT_CHECK(root.root == nullptr || root.context == nullptr,
             "a Task was polled from inside its own poll");
  WEFT_CHECK(!coroutine.done(), "a Task was polled after it was ready");
  root.context = &cx;
  if (root.root == nullptr) {
    root.root = &root;
    Resume(root, coroutine);
  } else {
    Leaf* leaf = root.position.leaf();
    if (!PollLeaf(leaf, cx)) {
      root.context = nullptr;
      return false;
    }
    Resume(root, leaf->coroutine);
  }
  root.context = nullptr;
  return coroutine.done();
}

Transfer EnterChild(Link& link, std::coroutine_handle<> awaiter,
                    PromiseBase& promise) {
  PromiseBase& root = *promise.root;
  PromiseBase& child = PromiseOf(link.child);
  link.parent = awaiter;
  std::coroutine_handle<> next = link.child;
  if (child.root == nullptr) {
    child.root = &root;
    child.link = &link;
    std::atomic_signal_fence(std::memory_order_release);  // as in Adopt()
    root.position.Set(next);
  } else {
    WEFT_CHECK(!link.child.done(), "a Task was awaited after it was ready");
    WEFT_CHECK(child.context == nullptr, "a Task awaited itself");
    Adopt(root, link.child, link);
    // What it waits for has to know the new context.
    Leaf* leaf = root.position.leaf();
    if (PollLeaf(leaf, *root.context)) {
      next = leaf->coroutine;
      root.position.Set(next);
    } else {
      next = nullptr;
    }
  }
#if WEFT_SYMMETRIC_TRANSFER
  return next ? next : std::noop_coroutine();
#else
  root.next = next;
#endif
}

void TraceRoot(std::coroutine_handle<> coroutine, AwaitTrace& trace) {
  const PromiseBase& root = PromiseOf(coroutine);
  Leaf* const leaf = root.position.leaf();
  const std::coroutine_handle<> innermost =
      leaf != nullptr ? leaf->coroutine : root.position.running();
  if (!innermost) return trace.AddAwait(root.awaits, /*runs=*/false);
  const int outer_depth = trace.depth();
  const Coroutines found = CoroutinesFrom(innermost, coroutine);
  for (size_t i = 0; i < found.count; ++i) {
    if (i == Coroutines::kEnd && found.skipped != 0) {
      trace.AddFuture("coroutines that are left out here:", found.skipped);
    }
    const bool runs = leaf == nullptr && i + 1 == found.count;
    trace.AddAwait(found.promises[i]->awaits, runs);
    trace.set_depth(trace.depth() + 1);
  }
  if (leaf != nullptr) leaf->poll(leaf, /*cx=*/nullptr, &trace);
  trace.set_depth(outer_depth);
}

void DestroyCoroutine(std::coroutine_handle<> coroutine) {
  PromiseBase& root = PromiseOf(coroutine);
  if (root.root == &root) {
    WEFT_CHECK(root.context == nullptr,
               "a Task was destroyed from inside its own poll");
    if (Leaf* leaf = root.position.leaf()) {
      root.position.Set(nullptr);
      std::coroutine_handle<> at = leaf->coroutine;
      while (at != coroutine) {
        Link* link = PromiseOf(at).link;
        const std::coroutine_handle<> parent = link->parent;
        link->child = nullptr;
        at.destroy();
        at = parent;
      }
    }
  }
  coroutine.destroy();
}

void Rethrow(std::exception_ptr exception) {
  std::rethrow_exception(std::move(exception));
}

void RethrowFromPoll() {
  std::exception_ptr thrown = std::move(thrown_by_poll.exception);
  std::destroy_at(&thrown_by_poll.exception);
  std::rethrow_exception(std::move(thrown));
}

}  // namespace weft::task_internal
