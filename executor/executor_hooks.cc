// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/executor_hooks.h"

#include <functional>
#include <memory>
#include <utility>

#include "weft/task/current_task.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_info.h"

namespace weft::executor_internal {
namespace {

using task_internal::TaskHeader;

// Of a task of an executor.
bool IsObserved(TaskHeader& task) {
  return static_cast<task_internal::TaskHeaderWith<SpawnedTask>&>(task)
      .metadata.observed;
}

void CallFor(TaskHeader& task,
             const std::function<void(const HookedTask&)>& hook) {
  if (!hook || !IsObserved(task)) return;
  hook({.id = task.id, .name = task.name()});
}

}  // namespace

HookCaller::HookCaller(std::shared_ptr<const ExecutorHooks> hooks)
    : hooks_(std::move(hooks)) {}

void HookCaller::NoteSpawn(Runnable<SpawnedTask>& task) noexcept {
  task.metadata().observed = true;
  if (!hooks_->on_spawn) return;
  hooks_->on_spawn({.id = task.id(), .name = task.name()});
}

void HookCaller::NoteEnd(TaskEnd end) noexcept {
  if (!hooks_->on_end) return;
  hooks_->on_end({.id = CurrentTaskId(), .name = CurrentTaskName()}, end);
}

void HookCaller::BeforePoll(TaskHeader& task) noexcept {
  CallFor(task, hooks_->before_poll);
}

void HookCaller::AfterPoll(TaskHeader& task) noexcept {
  CallFor(task, hooks_->after_poll);
}

void HookCaller::BeforeForgotten(TaskHeader& task) noexcept {
  if (!hooks_->on_forgotten || !IsObserved(task)) return;
  hooks_->on_forgotten(task_internal::DescribeForgotten(task));
}

void HookCaller::BeforePark() noexcept {
  if (hooks_->on_park) hooks_->on_park();
}

void HookCaller::AfterPark() noexcept {
  if (hooks_->on_unpark) hooks_->on_unpark();
}

}  // namespace weft::executor_internal
