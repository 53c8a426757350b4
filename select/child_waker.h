// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChildNode and WokenList: which of many children were woken. Internal;
// select/child_set.h is their owner's side.
//
// A set of futures gives each child a waker of its own, so that a wake tells
// which child to poll. The waker is a counted reference to the child's node;
// the node knows the set's list of woken children. Both are on the heap, since
// a waker may outlive the child and the set:
//
//   wakers ──▶ node ──▶ list ──▶ the waker of the set's owner
//   child  ──▶ node       ▲
//   set    ───────────────┘
//
// A wake links the node into the list, once until the child is polled, and
// whoever links the first one wakes the owner. The owner takes all at once.
//
// A node's word:
//   kWoken      The node is in the list, or is about to be linked by whoever
//               set this, or was taken and its child not polled yet. Set by a
//               wake, cleared by Unlink(). Excludes another link.
//   kGone       The child is gone. Set by the owner, never cleared; excludes
//               links from then on.
//   references  One of the child, one of each waker, one of the link: it comes
//               with kWoken and goes with it.
//
// Thread safety: wakers' methods from any thread, owner's from one at a time.
// Lifetime: a node ends with its last reference, a list with that of its set
// and all nodes.
#ifndef WEFT_SELECT_CHILD_WAKER_H_
#define WEFT_SELECT_CHILD_WAKER_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "weft/task/atomic_waker.h"
#include "weft/task/task_state.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

// No wake is lost.
//
// 1. A wake that finds kWoken has written the word, and the child is polled
//    after an Unlink() that comes later in the word's order. That poll sees
//    what happened before the wake.
// 2. A wake that sets kWoken links the node. If the list was empty, it wakes
//    the owner afterwards. If not, whoever made it non-empty does or did so,
//    after that link; and the owner has not taken the list in between, or it
//    would have been empty.
// 3. The owner sleeps only after it has registered its waker and then seen an
//    empty list (Park). Either the waking side's Take() of the waker comes
//    first: then its link happens before Park's look, which sees it. Or it
//    comes later, and wakes the waker that was registered.
//
// Nor does a wake write a link that is still being read: the owner reads it
// before Unlink() releases the word, and the wake that links the node anew has
// acquired that.

// `Atomics` and `W` let a model checker run this code.
template <class Atomics = task_internal::StdAtomics, class W = Waker>
class BasicWokenList;

template <class Atomics = task_internal::StdAtomics, class W = Waker>
class BasicChildNode {
 public:
  using List = BasicWokenList<Atomics, W>;

  // With one reference, the child's.
  BasicChildNode(List& list, void* child)
      : word_(kReference), list_(list), child_(child), next_(nullptr) {
    list_.Ref();
  }
  BasicChildNode(const BasicChildNode&) = delete;
  BasicChildNode& operator=(const BasicChildNode&) = delete;

  // --- Of wakers.

  // Relaxed: a new reference is made from an existing one.
  void Ref() { word_.fetch_add(kReference, std::memory_order_relaxed); }
  void Unref() { Subtract(kReference); }
  void WakeByRef() { static_cast<void>(Link(/*consume=*/false)); }
  // Uses up a reference.
  void Wake() {
    // Not before the link: the owner may drop all others once it was woken.
    if (Link(/*consume=*/true)) Unref();
  }

  // --- Of the owner.

  // Whom it is for; null once that is gone.
  void* child() const { return child_; }
  // Of a node that TakeAll() gave: the one behind it.
  BasicChildNode* next() const { return next_; }
  // Of a taken node, before its child is polled; from now on it can be woken
  // again.
  void Unlink() {
    // Acquire: what happened before the wakes. Release: next() was read.
    word_.fetch_sub(kWoken + kReference, std::memory_order_acq_rel);
  }
  // The child is gone. With `taken`, of a node that was not unlinked.
  void Release(bool taken) {
    child_ = nullptr;
    Subtract((taken ? 2 * kReference : kReference) - kGone);
  }
  // True if a waker refers to it.
  bool IsWatched() const {
    // Relaxed: a guess, for people.
    const uint32_t word = word_.load(std::memory_order_relaxed);
    return word >= ((word & kWoken) != 0 ? 3 : 2) * kReference;
  }

 private:
  friend List;

  static constexpr uint32_t kWoken = 1;
  static constexpr uint32_t kGone = 2;
  static constexpr uint32_t kReference = 4;

  // True if the caller's reference is to be given up still.
  bool Link(bool consume) {
    // Relaxed: the exchange below decides.
    uint32_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & kGone) != 0) return true;
      const bool woken = (word & kWoken) != 0;
      uint32_t next = word;
      if (!woken) next += kWoken + kReference;
      if (woken && consume) next -= kReference;  // the link has one, too
      // Release: what happened before this wake, also where kWoken is set.
      // Acquire: the owner has read the node's last link.
      if (word_.compare_exchange_strong(word, next, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
        if (woken) return false;
        list_.Push(*this);
        return true;
      }
    }
  }

  void Subtract(uint32_t amount) {
    // Release: our use of the node; acquire: the last one sees all others'.
    const uint32_t left =
        word_.fetch_sub(amount, std::memory_order_acq_rel) - amount;
    if (left >= kReference) return;
    List& list = list_;
    delete this;
    list.Unref();
  }

  typename Atomics::template Atomic<uint32_t> word_;
  List& list_;
  // The owner's.
  typename Atomics::template Plain<void*> child_;
  // Whoever's the link is: the linker's, then the list's, then the owner's.
  typename Atomics::template Plain<BasicChildNode*> next_;
};

template <class Atomics, class W>
class BasicWokenList {
 public:
  using Node = BasicChildNode<Atomics, W>;

  // With one reference, which Close() gives up.
  BasicWokenList() : references_(1), head_(kEmpty) {}
  BasicWokenList(const BasicWokenList&) = delete;
  BasicWokenList& operator=(const BasicWokenList&) = delete;

  // --- Of the owner.

  // Takes what was woken, in the order in which it was; null if nothing was.
  Node* TakeAll() {
    // Relaxed: Park() looks again before anybody sleeps.
    if (head_.load(std::memory_order_relaxed) == kEmpty) return nullptr;
    // Acquire: the links.
    return Reversed(head_.exchange(kEmpty, std::memory_order_acquire));
  }
  // Keeps `waker`, to be woken when the list is not empty any more. False if it
  // is not empty now.
  bool Park(const W& waker) {
    waker_.Register(waker);
    // Relaxed: Register has acquired what whoever took the waker had linked.
    return head_.load(std::memory_order_relaxed) == kEmpty;
  }
  void WakeOwner() { waker_.Wake(); }
  void ForgetOwner() { static_cast<void>(waker_.Take()); }
  // The set is gone.
  void Close() {
    // Acquire: the links.
    Node* node = Reversed(head_.exchange(kClosed, std::memory_order_acquire));
    while (node != nullptr) std::exchange(node, node->next())->Unref();
    // A waker that is dropped may do anything: after all else.
    [[maybe_unused]] const W waker = waker_.Take();
    Unref();
  }

 private:
  friend Node;

  // What head_ holds beside the address of the node that was linked last.
  static constexpr uintptr_t kEmpty = 0;
  static constexpr uintptr_t kClosed = 1;  // nothing is linked any more

  // Relaxed: a new reference is made from an existing one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // Release: our use of the list; acquire: the last one sees all others'.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // The caller has a reference of `node` beside the link's.
  void Push(Node& node) {
    // Relaxed: only the exchange below reads what is behind it.
    uintptr_t head = head_.load(std::memory_order_relaxed);
    do {
      if (head == kClosed) {
        node.Unref();
        return;
      }
      node.next_ = reinterpret_cast<Node*>(head);
      // Release: the node's link; those behind it are released already.
    } while (!head_.compare_exchange_strong(
        head, reinterpret_cast<uintptr_t>(&node), std::memory_order_release,
        std::memory_order_relaxed));
    if (head == kEmpty) waker_.Wake();
  }

  static Node* Reversed(uintptr_t head) {
    Node* reversed = nullptr;
    Node* node = reinterpret_cast<Node*>(head);
    while (node != nullptr) {
      Node* const next = node->next_;
      node->next_ = reversed;
      reversed = std::exchange(node, next);
    }
    return reversed;
  }

  typename Atomics::template Atomic<uint32_t> references_;
  typename Atomics::template Atomic<uintptr_t> head_;
  BasicAtomicWaker<Atomics, W> waker_;
};

using ChildNode = BasicChildNode<>;
using WokenList = BasicWokenList<>;

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_CHILD_WAKER_H_
