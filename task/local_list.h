// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The values of task-local variables that are set where the calling thread is.
// Internal; see task/task_local.h.
//
// A linked list from the innermost scope outwards, ending at what the task
// inherited. Nodes of scopes are on the stack of the poll; those of inherited
// values belong to the task.
//
// Thread safety: per thread; an InheritedLocals belongs to who runs its task.
#ifndef WEFT_TASK_LOCAL_LIST_H_
#define WEFT_TASK_LOCAL_LIST_H_

#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace weft::task_internal {

// How values of a type are copied to the heap (null: they cannot be copied) and
// destroyed there.
struct LocalType {
  void* (*copy)(const void* value);
  void (*destroy)(void* value) noexcept;
};

template <class T>
constexpr LocalType MakeLocalType() {
  LocalType type = {nullptr, nullptr};
  if constexpr (std::is_copy_constructible_v<T>) {
    type.copy = [](const void* value) -> void* {
      return new T(*static_cast<const T*>(value));
    };
    type.destroy = [](void* value) noexcept { delete static_cast<T*>(value); };
  }
  return type;
}
template <class T>
inline constexpr LocalType kLocalType = MakeLocalType<T>();

struct LocalNode {
  const void* key;
  void* value;
  const LocalType* type;
  const LocalNode* next;
};

// The innermost value of `key`, or null.
void* FindLocal(const void* key);

// Calls fn() with `value` as the innermost one of `key`; passes on what it
// throws.
void CallWithLocal(const void* key, void* value, const LocalType* type,
                   absl::FunctionRef<void()> fn);

// Copies of values.
class InheritedLocals {
 public:
  InheritedLocals() = default;
  // Of the calling thread's values: those that are not hidden by others, and
  // can be copied.
  static InheritedLocals CopyCurrent();

  InheritedLocals(InheritedLocals&& other) noexcept
      : nodes_(std::move(other.nodes_)) {
    other.nodes_.clear();
  }
  InheritedLocals& operator=(InheritedLocals&& other) noexcept {
    nodes_.swap(other.nodes_);
    return *this;
  }
  ~InheritedLocals();

  const LocalNode* head() const {
    return nodes_.empty() ? nullptr : nodes_.data();
  }

 private:
  std::vector<LocalNode> nodes_;  // linked in this order
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_LOCAL_LIST_H_
