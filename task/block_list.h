// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BlockList: free blocks of memory, linked through their first words. Internal to
// the frame cache.
//
// Thread safety: none.
// Lifetime: owns nothing; a copy is another name for the same blocks.
#ifndef WEFT_TASK_BLOCK_LIST_H_
#define WEFT_TASK_BLOCK_LIST_H_

#include <cstddef>
#include <new>
#include <utility>

namespace weft::task_internal {

class BlockList {
 public:
  size_t size() const { return size_; }

  void Push(void* block) {
    top_ = new (block) Block{top_};
    ++size_;
  }

  // Requires: size() != 0.
  void* Pop() {
    --size_;
    Block* next = top_->next;
    __builtin_prefetch(next, 1);  // the one after this, which will be written
    return std::exchange(top_, next);
  }

 private:
  struct Block {
    Block* next;
  };

  Block* top_ = nullptr;
  size_t size_ = 0;
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_BLOCK_LIST_H_
