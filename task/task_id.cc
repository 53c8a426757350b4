// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm: each thread takes blocks of ids from a global counter, so that
// threads which spawn do not share a word per task. What is left of a block
// when its thread ends is never used.
#include "weft/task/task_id.h"

#include <atomic>
#include <cstdint>

#include "weft/task/probes.h"

namespace weft::task_internal {
namespace {

constexpr uint64_t kBlock = 1024;

constinit std::atomic<uint64_t> next_block{1};

struct Block {
  uint64_t next = 0;
  uint64_t end = 0;
};

[[gnu::noinline]] Block TakeBlock() {
  // Relaxed: all that matters is that nobody gets the same.
  const uint64_t first =
      next_block.fetch_add(kBlock, std::memory_order_relaxed);
  return {first, first + kBlock};
}

}  // namespace

// Not inlined: the caller may be a coroutine that changes threads.
[[gnu::noinline]] TaskId NewTaskId() {
  constinit static thread_local Block block;
  if (block.next == block.end) block = TakeBlock();
  const TaskId id(block.next++);
  ProbeTaskSpawn(id.value());
  return id;
}

}  // namespace weft::task_internal
