// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Here, not in the header, because user exceptions pass through: see
// docs/design/task.md, "What no inline function may do".
#include "weft/task/local_list.h"

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "weft/task/running.h"

namespace weft::task_internal {
namespace {

const LocalNode* Find(const LocalNode* node, const void* key) {
  while (node != nullptr && node->key != key) node = node->next;
  return node;
}

class LocalScope {
 public:
  explicit LocalScope(LocalNode& node) : record_(ThisThreadRuns()) {
    node.next = record_.locals;
    record_.locals = &node;
    previous_ = node.next;
  }
  ~LocalScope() { record_.locals = previous_; }

 private:
  Running& record_;
  const LocalNode* previous_;
};

}  // namespace

void* FindLocal(const void* key) {
  const LocalNode* node = Find(ThisThreadRuns().locals, key);
  return node == nullptr ? nullptr : node->value;
}

void CallWithLocal(const void* key, void* value, const LocalType* type,
                   absl::FunctionRef<void()> fn) {
  LocalNode node = {key, value, type, nullptr};
  const LocalScope scope(node);
  fn();
}

InheritedLocals InheritedLocals::CopyCurrent() {
  InheritedLocals copies;
  std::vector<LocalNode>& nodes = copies.nodes_;
  const LocalNode* const current = ThisThreadRuns().locals;
  for (const LocalNode* node = current; node != nullptr; node = node->next) {
    if (node->type->copy == nullptr) continue;
    if (Find(current, node->key) != node) continue;  // hidden
    nodes.push_back({node->key, nullptr, node->type, nullptr});
    nodes.back().value = node->type->copy(node->value);
  }
  for (size_t i = 1; i < nodes.size(); ++i) nodes[i - 1].next = &nodes[i];
  return copies;
}

InheritedLocals::~InheritedLocals() {
  for (const LocalNode& node : nodes_) {
    // Null if its copy threw.
    if (node.value != nullptr) node.type->destroy(node.value);
  }
}

}  // namespace weft::task_internal
