// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The tree behind CancellationSource and CancellationToken. Internal.
//
// A node is what sources and tokens count references of. Nodes that are not
// cancelled form trees: each knows its parent and its children, and owns
// neither. A node leaves its tree
//   - when it is cancelled, with all its descendants: a cancelled node has no
//     relatives, and a child made of it later is born cancelled;
//   - when its last reference goes: its children become its parent's.
// So memory is held by handles alone, in whatever order they go.
//
// Locks. All nodes that ever were related share one Tree, whose mutex guards
// the links. Each node has a mutex for its waits and callbacks. Neither is held
// while the other is taken, nor while anybody is woken or called.
//
// Thread safety: all methods from any thread.
#ifndef WEFT_SELECT_CANCELLATION_NODE_H_
#define WEFT_SELECT_CANCELLATION_NODE_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "weft/select/callback_list.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/counted_ref.h"

namespace weft::select_internal {

class CancellationNode;
using CancellationRef = task_internal::CountedRef<CancellationNode>;

class CancellationNode {
 public:
  // A node without relatives.
  static CancellationRef Make();
  CancellationRef MakeChild();

  CancellationNode(const CancellationNode&) = delete;
  CancellationNode& operator=(const CancellationNode&) = delete;

  // Acquire: pairs with the release in Cancel.
  bool IsCancelled() const {
    return cancelled_.load(std::memory_order_acquire);
  }
  // Requires: `reason` is not OK.
  void Cancel(const absl::Status& reason);
  // Why it was cancelled; OK if it was not.
  absl::Status reason() const {
    return IsCancelled() ? reason_ : absl::OkStatus();
  }

  // One poll of a wait; true once cancelled.
  bool PollWait(sync_internal::WaitNode& wait, Context& cx);
  void DropWait(sync_internal::WaitNode& wait);

  // False, and nothing is done, if cancelled.
  bool AddCallback(CallbackNode& callback);
  // See CallbackList::Remove().
  void RemoveCallback(CallbackNode& callback);

 private:
  friend CancellationRef;
  struct Tree;

  explicit CancellationNode(Tree* tree) : tree_(tree) {}
  ~CancellationNode() = default;

  // Relaxed: a new reference is made from an existing one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  // False if the last reference is gone already.
  bool TryRef();
  void Unref();

  // Require the tree's mutex.
  void Link(CancellationNode* parent);
  void Unlink();
  void LeaveTree();
  CancellationNode* CancelSubtree(const absl::Status& reason);
  void MarkCancelled(const absl::Status& reason);

  // Calls and wakes all that wait for this node.
  void NotifyAll();

  std::atomic<uint32_t> references_{1};
  // Set under the tree's mutex and never cleared; read anywhere.
  std::atomic<bool> cancelled_{false};
  // Written before `cancelled_`, and never again.
  absl::Status reason_;
  Tree* const tree_;

  // Guarded by the tree's mutex.
  CancellationNode* parent_ = nullptr;
  CancellationNode* first_child_ = nullptr;
  CancellationNode* previous_ = nullptr;
  // The next sibling; once cancelled, the next one to be woken.
  CancellationNode* next_ = nullptr;

  std::mutex mutex_;
  // Guarded by `mutex_`.
  sync_internal::WaitQueue waits_;
  CallbackList callbacks_;
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_CANCELLATION_NODE_H_
