// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Cancel takes the subtree apart under the tree's mutex, without
// recursion: a stack of nodes, linked by next_, each of which is marked and
// puts its children on the stack. A node whose last reference has just gone,
// and which waits for the mutex in order to leave, is marked like the others
// but not kept. The others get a reference and go to a second list; after the
// mutex is released they are woken one by one.
//
// A wait is not missed, nor is a callback: it looks at the mark and joins the
// queue under the node's mutex, and Cancel sets the mark before it takes that
// mutex to empty the queue. So either it is in the queue by then, or it sees the
// mark.
#include "weft/select/cancellation_node.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "weft/select/callback_list.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/wake_list.h"

namespace weft::select_internal {

struct CancellationNode::Tree {
  std::mutex mutex;
  // One for each node.
  std::atomic<uint64_t> references{1};
};

CancellationRef CancellationNode::Make() {
  return CancellationRef(new CancellationNode(new Tree));
}

CancellationRef CancellationNode::MakeChild() {
  CancellationRef child(new CancellationNode(tree_));
  // Relaxed: this node has a reference.
  tree_->references.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(tree_->mutex);
  // Relaxed: both are written under the mutex, which is held.
  if (cancelled_.load(std::memory_order_relaxed)) {
    child->MarkCancelled(reason_);
  } else {
    child->Link(this);
  }
  return child;
}

void CancellationNode::Cancel(const absl::Status& reason) {
  WEFT_CHECK(!reason.ok(),
             "the reason of a cancellation is OK: give the status that whoever "
             "is cancelled shall report");
  if (IsCancelled()) return;
  CancellationNode* to_notify;
  {
    std::lock_guard lock(tree_->mutex);
    to_notify = CancelSubtree(reason);
  }
  while (to_notify != nullptr) {
    const CancellationRef node(to_notify);
    to_notify = to_notify->next_;
    node->NotifyAll();
  }
}

CancellationNode* CancellationNode::CancelSubtree(const absl::Status& reason) {
  // Relaxed: written under the mutex, which is held.
  if (cancelled_.load(std::memory_order_relaxed)) return nullptr;
  Unlink();
  CancellationNode* to_notify = nullptr;
  CancellationNode* stack = this;
  while (stack != nullptr) {
    CancellationNode& node = *stack;
    stack = node.next_;
    CancellationNode* child = std::exchange(node.first_child_, nullptr);
    while (child != nullptr) {
      child->parent_ = nullptr;
      child->previous_ = nullptr;
      CancellationNode* next = std::exchange(child->next_, stack);
      stack = std::exchange(child, next);
    }
    node.MarkCancelled(reason);
    node.next_ = nullptr;
    if (node.TryRef()) node.next_ = std::exchange(to_notify, &node);
  }
  return to_notify;
}

void CancellationNode::MarkCancelled(const absl::Status& reason) {
  reason_ = reason;
  // Release: publishes the reason, and what happened before Cancel.
  cancelled_.store(true, std::memory_order_release);
}

void CancellationNode::NotifyAll() {
  std::unique_lock lock(mutex_);
  callbacks_.RunAll(lock);
  while (!waits_.IsEmpty()) {
    WakeList wakers;
    while (!waits_.IsEmpty() && !wakers.IsFull()) {
      wakers.Add(waits_.NotifyFront(sync_internal::WaitNode::kReleased));
    }
    lock.unlock();
    wakers.WakeAll();
    lock.lock();
  }
}

bool CancellationNode::PollWait(sync_internal::WaitNode& wait, Context& cx) {
  if (!wait.polled && IsCancelled()) {
    if (!cx.HasBudget()) return false;
    cx.Charge();
    return true;
  }
  return sync_internal::PollWait(mutex_, waits_, wait, cx,
                                 [&] { return IsCancelled(); });
}

void CancellationNode::DropWait(sync_internal::WaitNode& wait) {
  std::lock_guard lock(mutex_);
  if (wait.state == sync_internal::WaitNode::kQueued) waits_.Remove(wait);
}

bool CancellationNode::AddCallback(CallbackNode& callback) {
  std::lock_guard lock(mutex_);
  if (IsCancelled()) return false;
  callbacks_.Add(callback);
  return true;
}

void CancellationNode::RemoveCallback(CallbackNode& callback) {
  std::unique_lock lock(mutex_);
  callbacks_.Remove(lock, callback);
}

bool CancellationNode::TryRef() {
  // Relaxed: under the tree's mutex, which whoever destroys takes first.
  uint32_t references = references_.load(std::memory_order_relaxed);
  do {
    if (references == 0) return false;
  } while (!references_.compare_exchange_weak(references, references + 1,
                                              std::memory_order_relaxed));
  return true;
}

void CancellationNode::Unref() {
  // Acquire-release: the last one sees every use before destroying.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    std::lock_guard lock(tree_->mutex);
    LeaveTree();
  }
  Tree* const tree = tree_;
  delete this;
  // Acquire-release: as above.
  if (tree->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete tree;
  }
}

void CancellationNode::Link(CancellationNode* parent) {
  parent_ = parent;
  previous_ = nullptr;
  next_ = parent->first_child_;
  if (next_ != nullptr) next_->previous_ = this;
  parent->first_child_ = this;
}

void CancellationNode::Unlink() {
  if (parent_ == nullptr) return;
  (previous_ != nullptr ? previous_->next_ : parent_->first_child_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  parent_ = previous_ = next_ = nullptr;
}

void CancellationNode::LeaveTree() {
  CancellationNode* const parent = parent_;
  Unlink();
  CancellationNode* child = std::exchange(first_child_, nullptr);
  while (child != nullptr) {
    CancellationNode* const next = child->next_;
    child->parent_ = child->previous_ = child->next_ = nullptr;
    if (parent != nullptr) child->Link(parent);
    child = next;
  }
}

}  // namespace weft::select_internal
