// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChildSet: polls, of any number of children, those that were woken. Internal.
//
// A child is polled with a waker of its own (select/child_waker.h). While it is
// polled that is lent: a wake during the poll sets a flag, and only a clone
// makes the counted node. So a child that never clones its waker costs no
// allocation and no atomic operation. Where there is no memory for the node, the
// clone is one of the owner's waker instead, which knows no child: so one that
// got such a clone is polled in each poll of the owner, until it has a node.
//
// Woken children stand in a queue, a plain list, in the order in which they
// were woken. New ones count as woken. A set that has woken children left when
// a poll ends wakes its owner and goes on in the next.
//
//   class Slot : public Child { public: F future; … };
//   children.Add(slot);
//   children.Run(cx, kMaxPolls, [&](Child& child) {
//     auto& slot = static_cast<Slot&>(child);
//     return children.Poll(slot, cx, [&](Context& inner) {
//       return slot.future.Poll(inner);
//     }).IsReady();
//   });
//
// Thread safety: one thread at a time; the children's wakers, from any thread.
// Lifetime: movable between polls; children stay where they are. A child that
// was added may be destroyed once it is taken out of the queue, or with the
// set; its wakers then wake nobody.
#ifndef WEFT_SELECT_CHILD_SET_H_
#define WEFT_SELECT_CHILD_SET_H_

#include <cstddef>
#include <utility>

#include "weft/select/child_waker.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

class ChildSet;

// The base of what holds a child.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;  // wakers and the queue hold its address
  Child& operator=(const Child&) = delete;

  // True if somebody holds a waker of it.
  bool IsWatched() const { return node_ != nullptr && node_->IsWatched(); }

  // It will not be polled any more: its wakers wake nobody. Requires: it is not
  // in the queue.
  void Retire() {
    if (node_ != nullptr) std::exchange(node_, nullptr)->Release(taken_);
  }

 protected:
  ~Child() { Retire(); }

 private:
  friend ChildSet;

  static const WakerVTable kLent;
  static const WakerVTable kCounted;

  ChildNode* node_ = nullptr;  // made at the first clone of its waker
  ChildSet* set_ = nullptr;    // that polls it right now
  Child* next_ = nullptr;      // in the queue, or among those without a node
  bool queued_ = false;
  bool taken_ = false;  // the node's link is ours: it is to be unlinked
  bool woken_ = false;  // by the lent waker
  // In its last poll its waker's clones were the owner's. Then there is no node.
  bool nodeless_ = false;
};

class ChildSet {
 public:
  ChildSet() = default;
  ChildSet(ChildSet&& other) noexcept
      : front_(std::exchange(other.front_, nullptr)),
        back_(std::exchange(other.back_, nullptr)),
        nodeless_(std::exchange(other.nodeless_, nullptr)),
        list_(std::exchange(other.list_, nullptr)),
        parked_(std::exchange(other.parked_, false)) {}
  ChildSet& operator=(ChildSet&& other) noexcept {
    std::swap(front_, other.front_);
    std::swap(back_, other.back_);
    std::swap(nodeless_, other.nodeless_);
    std::swap(list_, other.list_);
    std::swap(parked_, other.parked_);
    return *this;
  }
  ~ChildSet() {
    if (list_ != nullptr) list_->Close();
  }

  // A new child, to be polled. Wakes the owner if it sleeps.
  void Add(Child& child) {
    Enqueue(child);
    WakeOwner();
  }

  // Calls visit(child) for one woken child after the other, which polls it,
  // until that returns true; then returns true. Else false, and the owner will
  // be woken when there is more to do: also after `max_polls` children, and
  // before any when the budget is spent.
  template <class Visit>
  bool Run(Context& cx, size_t max_polls, Visit visit) {
    parked_ = false;
    // Also where the queue is not empty: children that wake themselves while
    // they are polled keep it so, and would keep the turn from all others.
    TakeWoken();
    TakeNodeless();
    for (size_t polls = 0;; ++polls) {
      while (front_ == nullptr && !TakeWoken()) {
        if (Park(cx.waker())) return false;
      }
      if (polls == max_polls) {
        cx.waker().WakeByRef();
        return false;
      }
      if (!cx.HasBudget()) return false;
      if (visit(*Pop())) return true;
    }
  }

  // poll(inner context), with the child's waker. Requires: Run() calls it.
  template <class PollFn>
  auto Poll(Child& child, Context& cx, PollFn poll) {
    child.set_ = this;
    child.woken_ = false;
    child.nodeless_ = false;
    owner_ = &cx.waker();
    const BorrowedWaker waker(
        child.node_ != nullptr ? &Child::kCounted : &Child::kLent,
        child.node_ != nullptr ? static_cast<void*>(child.node_) : &child);
    Context inner = cx.WithWaker(waker.get());
    auto polled = poll(inner);
    if (polled.IsPending() && (child.woken_ || child.nodeless_)) Requeue(child);
    return polled;
  }

  // Empties the queue into add(child), in its order, with those that were woken
  // since; to bring them into another one with Enqueue().
  template <class AddFn>
  void TakeQueue(AddFn add) {
    TakeWoken();
    TakeNodeless();
    while (front_ != nullptr) add(Take());
  }
  void Enqueue(Child& child) {
    if (std::exchange(child.queued_, true)) return;
    child.next_ = nullptr;
    (front_ != nullptr ? back_->next_ : front_) = &child;
    back_ = &child;
  }

  // All children are about to be destroyed, those in the queue included.
  void AbandonQueue() { front_ = nodeless_ = nullptr; }

  // Wakes the owner if it sleeps, to call Run() again.
  void WakeOwner() {
    if (std::exchange(parked_, false)) list_->WakeOwner();
  }
  // Nobody waits: drops the owner's waker.
  void ForgetOwner() {
    parked_ = false;
    if (list_ != nullptr) list_->ForgetOwner();
  }
  // True while the owner's waker is kept.
  bool parked() const { return parked_; }

 private:
  friend Child;

  // The front of the queue, out of it.
  Child* Take() {
    Child* const child = std::exchange(front_, front_->next_);
    child->queued_ = false;
    return child;
  }
  // The same, to be polled: from here on a wake puts it into the queue again.
  Child* Pop() {
    Child* const child = Take();
    if (std::exchange(child->taken_, false)) child->node_->Unlink();
    return child;
  }

  // Appends to the queue what was woken from elsewhere; false if it is empty.
  bool TakeWoken();
  // Of a child that a poll has woken or left without a node.
  void Requeue(Child& child);
  // Appends to the queue those that have no node.
  void TakeNodeless();
  // Registers `waker`; false if somebody was woken meanwhile. If there is no
  // memory for that, wakes `waker`: it asks again and again then.
  bool Park(const Waker& waker);
  // A waker of the child that is polled, to be kept.
  Waker MakeWaker(Child& child);
  // Null if there is no memory.
  WokenList* list();

  Child* front_ = nullptr;
  Child* back_ = nullptr;  // valid while front_ is not null
  // To be polled with the next poll of the owner; linked by next_.
  Child* nodeless_ = nullptr;
  const Waker* owner_ = nullptr;  // while a child is polled
  // Made with the first node, or when the owner first sleeps.
  WokenList* list_ = nullptr;
  bool parked_ = false;  // the owner sleeps, or was woken by the list
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_CHILD_SET_H_
