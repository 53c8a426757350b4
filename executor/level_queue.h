// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LevelQueue: ready tasks on several levels, and which of them runs next.
// Internal.
//
// Within a level the order is that of the pushes. Strict: Pop takes from the
// first level, level 0 before all, that is not empty. Weighted: while two
// levels are not empty, Pop takes from them in the proportion of their weights,
// so none starves; a level that was empty has saved nothing up.
//
//   LevelQueue queue({3, 1});  // or LevelQueue::Strict(2)
//   queue.Push(1, task);
//
// Thread safety: none. Lifetime: CHECK-fails if destroyed with tasks.
#ifndef WEFT_EXECUTOR_LEVEL_QUEUE_H_
#define WEFT_EXECUTOR_LEVEL_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/executor/task_ring.h"

namespace weft::executor_internal {

class LevelQueue {
 public:
  // A task and its level. A task is Runnable<SpawnedTask>::IntoRaw().
  struct Item {
    void* task = nullptr;
    size_t level = 0;
  };

  static constexpr int kMaxWeight = 1 << 16;

  static LevelQueue Strict(size_t levels);
  // A level per weight. Requires: weights from 1 to kMaxWeight.
  explicit LevelQueue(const std::vector<int>& weights);
  LevelQueue(LevelQueue&&) = default;
  ~LevelQueue();

  size_t levels() const { return levels_.size(); }
  size_t size() const { return size_; }

  void Push(size_t level, void* task);
  // False if there is none.
  bool Pop(Item& item);

 private:
  struct Level {
    explicit Level(uint64_t stride) : stride(stride) {}

    TaskRing tasks;
    const uint64_t stride;  // by how much a task advances `pass`; 0: strict
    uint64_t pass = 0;      // the level that has the least is next
  };

  LevelQueue() = default;

  void RestartPasses();

  std::vector<Level> levels_;
  size_t size_ = 0;
  uint64_t pass_ = 0;  // of the task popped last
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_LEVEL_QUEUE_H_
