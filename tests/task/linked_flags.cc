// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each VARIANT, with other options each time.
#include "weft/tests/task/linked_flags.h"

#include <string>
#include <utility>

#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/tests/kit/signal.h"

#define WEFT_JOIN_WORDS(a, b) a##b
#define WEFT_NAME(prefix, variant) WEFT_JOIN_WORDS(prefix, variant)
#define WEFT_TEXT_OF(word) #word
#define WEFT_TEXT(word) WEFT_TEXT_OF(word)

namespace weft {

Task<std::string> WEFT_NAME(Append, VARIANT)(Task<std::string> inner,
                                             Signal* signal) {
  co_await signal->Wait();
  std::string text = co_await std::move(inner);
  text += WEFT_TEXT(VARIANT) " ";
  co_return text;
}

JoinHandle<std::string> WEFT_NAME(Spawn, VARIANT)(Spawner& spawner,
                                                  Task<std::string> task) {
  return spawner.SpawnBorrowing(std::move(task));
}

std::string WEFT_NAME(BlockOn, VARIANT)(JoinHandle<std::string> handle) {
  return BlockOn(std::move(handle));
}

}  // namespace weft
