// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CountedRef: a pointer that holds one of its object's references, or null.
//
// T counts for itself, from 1 on: Ref() takes one more reference, and Unref()
// gives one back and, if it was the last, destroys the object. Either may be
// private if CountedRef<T> is a friend. T may be incomplete where a CountedRef
// is only named.
//
//   CountedRef<Node> node(new Node);  // takes over the first reference
//   const CountedRef<Node> other = node;
//
// Internal.
//
// Thread safety: as a plain pointer; T's counting is what threads share.
#ifndef WEFT_TASK_COUNTED_REF_H_
#define WEFT_TASK_COUNTED_REF_H_

#include <utility>

namespace weft::task_internal {

template <class T>
class CountedRef {
 public:
  CountedRef() = default;
  // Takes over a reference.
  explicit CountedRef(T* object) : object_(object) {}
  CountedRef(const CountedRef& other) : object_(other.object_) {
    if (object_ != nullptr) object_->Ref();
  }
  CountedRef(CountedRef&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)) {}
  CountedRef& operator=(CountedRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~CountedRef() {
    if (object_ != nullptr) object_->Unref();
  }

  explicit operator bool() const { return object_ != nullptr; }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_COUNTED_REF_H_
