// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/child_set.h"

#include <new>
#include <utility>

#include "weft/select/child_waker.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

// While a child is polled: the data is the child, and nothing is counted.
const WakerVTable Child::kLent = {
    .clone =
        [](void* data) {
          Child& child = *static_cast<Child*>(data);
          return child.set_->MakeWaker(child);
        },
    // Nobody owns a reference of it to use up, or to drop.
    .wake = [](void* data) { static_cast<Child*>(data)->woken_ = true; },
    .wake_by_ref = [](void* data) { static_cast<Child*>(data)->woken_ = true; },
    .drop = [](void*) {},
};

const WakerVTable Child::kCounted = {
    .clone =
        [](void* data) {
          static_cast<ChildNode*>(data)->Ref();
          return Waker(&Child::kCounted, data);
        },
    .wake = [](void* data) { static_cast<ChildNode*>(data)->Wake(); },
    .wake_by_ref =
        [](void* data) { static_cast<ChildNode*>(data)->WakeByRef(); },
    .drop = [](void* data) { static_cast<ChildNode*>(data)->Unref(); },
};

bool ChildSet::TakeWoken() {
  if (list_ == nullptr) return front_ != nullptr;
  ChildNode* node = list_->TakeAll();
  while (node != nullptr) {
    ChildNode* const taken = std::exchange(node, node->next());
    Child* const child = static_cast<Child*>(taken->child());
    if (child == nullptr) {
      taken->Unref();
      continue;
    }
    child->taken_ = true;
    Enqueue(*child);
  }
  return front_ != nullptr;
}

void ChildSet::Requeue(Child& child) {
  if (child.woken_) {
    Enqueue(child);
  } else {
    child.next_ = std::exchange(nodeless_, &child);
  }
}

void ChildSet::TakeNodeless() {
  while (nodeless_ != nullptr) {
    Child& child = *nodeless_;
    nodeless_ = child.next_;
    Enqueue(child);
  }
}

bool ChildSet::Park(const Waker& waker) {
  if (list() == nullptr) {
    waker.WakeByRef();
    return true;
  }
  parked_ = list_->Park(waker);
  return parked_;
}

// Without exceptions, since a clone of a waker must not fail. One that got the
// owner's gets no node in the same poll: it would then be queued by that as well.
Waker ChildSet::MakeWaker(Child& child) {
  if (!child.nodeless_ && child.node_ == nullptr && list() != nullptr) {
    child.node_ = new (std::nothrow) ChildNode(*list_, &child);
  }
  child.nodeless_ = child.node_ == nullptr;
  if (child.nodeless_) return *owner_;
  child.node_->Ref();
  return Waker(&Child::kCounted, child.node_);
}

WokenList* ChildSet::list() {
  if (list_ == nullptr) list_ = new (std::nothrow) WokenList();
  return list_;
}

}  // namespace weft::select_internal
