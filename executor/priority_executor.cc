// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/priority_executor.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "weft/executor/level_queue.h"
#include "weft/executor/pump_core.h"
#include "weft/task/check.h"
#include "weft/task/spawner.h"

namespace weft {

using executor_internal::LevelQueue;
using executor_internal::PumpCore;

PriorityExecutor::PriorityExecutor(Spawner& below,
                                   const PriorityExecutorOptions& options) {
  WEFT_CHECK(!options.weights_.empty() || options.strict_levels_ >= 1,
             "PriorityExecutorOptions: there must be at least one level");
  size_t parallelism = static_cast<size_t>(options.parallelism_);
  if (parallelism == 0) {
    parallelism = std::max(1U, std::thread::hardware_concurrency());
  }
  LevelQueue ready =
      options.weights_.empty()
          ? LevelQueue::Strict(static_cast<size_t>(options.strict_levels_))
          : LevelQueue(options.weights_);
  core_ = std::make_shared<PumpCore>(below, std::move(ready), parallelism);
}

Spawner& PriorityExecutor::spawner(int level) const {
  WEFT_CHECK(level >= 0 && level < levels(),
             "a PriorityExecutor has no such level; the highest is 0, the "
             "lowest levels() - 1");
  return core().spawner(static_cast<size_t>(level));
}

}  // namespace weft
