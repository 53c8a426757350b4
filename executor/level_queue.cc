// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm: stride scheduling (Waldspurger and Weihl, 1995). Each level has a
// pass, which each of its tasks advances by a stride, inversely proportional to
// the level's weight; the level with the least pass is next. One that was empty
// continues at the pass of the task popped last. Between two tasks of a level
// that is not empty, another level is served at most as often as its stride
// fits into the first one's, plus one. Strict order is the case in which no
// pass ever moves: the first of the least wins.
//
// Only differences matter, so now and then all passes go back by as much. They
// never wrap around, and a level may be empty for ever: it does not fall behind.
#include "weft/executor/level_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/task/check.h"

namespace weft::executor_internal {
namespace {

// The stride of weight 1: exact enough for the largest weight.
constexpr uint64_t kStride = uint64_t{1} << 31;

// Passes go back to zero from here: soon enough that every queue does it.
constexpr uint64_t kLastPass = kStride << 8;

}  // namespace

LevelQueue LevelQueue::Strict(size_t levels) {
  WEFT_CHECK(levels >= 1, "a queue needs at least one level");
  LevelQueue queue;
  for (size_t i = 0; i < levels; ++i) queue.levels_.emplace_back(0);
  return queue;
}

LevelQueue::LevelQueue(const std::vector<int>& weights) {
  WEFT_CHECK(!weights.empty(), "a queue needs at least one level");
  for (const int weight : weights) {
    WEFT_CHECK(weight >= 1 && weight <= kMaxWeight,
               "a level's weight is from 1 to 65536");
    levels_.emplace_back(kStride / static_cast<uint64_t>(weight));
  }
}

LevelQueue::~LevelQueue() {
  WEFT_CHECK(size_ == 0, "a LevelQueue was destroyed with tasks in it");
}

void LevelQueue::Push(size_t number, void* task) {
  Level& level = levels_[number];
  if (level.tasks.empty()) level.pass = std::max(level.pass, pass_);
  level.tasks.Push(task);
  ++size_;
}

bool LevelQueue::Pop(Item& item) {
  if (size_ == 0) return false;
  Level* best = nullptr;
  for (Level& level : levels_) {
    if (level.tasks.empty()) continue;
    if (best == nullptr || level.pass < best->pass) best = &level;
  }
  item.task = best->tasks.Pop();
  item.level = static_cast<size_t>(best - levels_.data());
  best->tasks.Trim();
  --size_;
  pass_ = best->pass;
  best->pass += best->stride;
  if (pass_ >= kLastPass) RestartPasses();
  return true;
}

// A level that is behind is empty, and would catch up before its next task.
void LevelQueue::RestartPasses() {
  for (Level& level : levels_) level.pass -= std::min(level.pass, pass_);
  pass_ = 0;
}

}  // namespace weft::executor_internal
