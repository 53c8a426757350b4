// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/child_set.h"

#include <utility>

#include "weft/select/child_waker.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

// While a child is polled: the data is the child, and nothing is counted.
const WakerVTable Child::kLent = {
    .clone =
        [](void* data) {
          Child& child = *static_cast<Child*>(data);
          ChildNode& node = child.set_->NodeOf(child);
          node.Ref();
          return Waker(&Child::kCounted, &node);
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

bool ChildSet::Park(const Waker& waker) {
  parked_ = list().Park(waker);
  return parked_;
}

ChildNode& ChildSet::NodeOf(Child& child) {
  if (child.node_ == nullptr) child.node_ = new ChildNode(list(), &child);
  return *child.node_;
}

WokenList& ChildSet::list() {
  if (list_ == nullptr) list_ = new WokenList();
  return *list_;
}

}  // namespace weft::select_internal
