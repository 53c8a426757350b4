// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/manual_executor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "weft/task/check.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/manual_core.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"

namespace weft {

ManualExecutor::ManualExecutor() : core_(task_internal::ManualCore::Take()) {}

ManualExecutor::~ManualExecutor() {
  WEFT_CHECK(!running_,
             "a ManualExecutor was destroyed by a task that it runs");
  {
    const TaskScope scope(*this);
    core_.DestroyTasks();
  }
  core_.GiveBack();
}

Spawner& ManualExecutor::spawner() { return core_; }

bool ManualExecutor::RunOne(uint32_t budget) {
  WEFT_CHECK(!running_, "a ManualExecutor was run by a task that it runs");
  std::optional<Runnable<SpawnedTask>> runnable = core_.Pop();
  if (!runnable.has_value()) return false;
  ++runs_;
  running_ = true;
  {
    const TaskScope scope(*this);
    core_.Run(*std::move(runnable), budget);
  }
  running_ = false;
  return true;
}

size_t ManualExecutor::RunUntilIdle(size_t max_runs) {
  size_t runs = 0;
  while (RunOne()) {
    ++runs;
    WEFT_CHECK(runs < max_runs,
               "tasks do not come to rest: does one wake itself for ever?");
  }
  return runs;
}

bool ManualExecutor::IsIdle() const { return core_.woken() == 0; }

size_t ManualExecutor::live() const { return core_.live(); }

void ManualExecutor::RunUntilWoken(CountingWaker& waker,
                                   absl::FunctionRef<bool()> idle) {
  while (waker.TakeWakes() == 0) {
    if (RunOne()) continue;
    if (waker.TakeWakes() != 0) return;
    WEFT_CHECK(idle(),
               "the future is pending and nothing is left that could wake it");
  }
}

namespace {

Environment WithSpawner(Spawner& spawner) {
  Environment environment = Environment::Current();
  environment.spawner = &spawner;
  return environment;
}

}  // namespace

ManualExecutor::TaskScope::TaskScope(ManualExecutor& executor)
    : environment_(WithSpawner(executor.spawner())), scope_(environment_) {}

}  // namespace weft
