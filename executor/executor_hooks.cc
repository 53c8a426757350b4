// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/executor_hooks.h"

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "weft/task/check.h"
#include "weft/task/runnable.h"
#include "weft/task/running.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_identity.h"
#include "weft/task/task_info.h"

namespace weft {

std::string_view TaskEndName(TaskEnd end) {
  switch (end) {
    case TaskEnd::kFinished:
      return "finished";
    case TaskEnd::kThrew:
      return "threw";
    case TaskEnd::kCancelled:
      return "cancelled";
    case TaskEnd::kForgotten:
      return "forgotten";
  }
  return "";
}

namespace executor_internal {
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
  hook({.id = task.id, .name = task.name(), .spawned_at = task.spawned_at});
}

}  // namespace

HookCaller::HookCaller(std::shared_ptr<const ExecutorHooks> hooks)
    : hooks_(std::move(hooks)) {}

void CheckNoHooks(const HookCaller* present) {
  WEFT_CHECK(
      present == nullptr,
      "SetHooks() was called twice on one executor, whose tasks belong to "
      "the hooks they were spawned with (TaskLints::Start() sets some, and "
      "takes yours)");
}

void HookCaller::NoteSpawn(Runnable<SpawnedTask>& task) noexcept {
  task.metadata().observed = true;
  if (!hooks_->on_spawn) return;
  hooks_->on_spawn(
      {.id = task.id(), .name = task.name(), .spawned_at = task.spawned_at()});
}

void HookCaller::NoteEnd(TaskEnd end) noexcept {
  if (!hooks_->on_end) return;
  const task_internal::TaskIdentity& task =
      *task_internal::ThisThreadRuns().task;
  hooks_->on_end(
      {.id = task.id, .name = task.name(), .spawned_at = task.spawned_at}, end);
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

}  // namespace executor_internal
}  // namespace weft
