// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/spawn_builder.h"

#include <utility>

#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/local_list.h"
#include "weft/task/spawner.h"
#include "weft/task/task_identity.h"

namespace weft {

TaskExtrasPtr SpawnBuilder::Extras() const {
  task_internal::InheritedLocals locals;
  if (inherit_locals_) locals = task_internal::InheritedLocals::CopyCurrent();
  if (name_.empty() && locals.head() == nullptr) return nullptr;
  return TaskExtrasPtr(new task_internal::TaskExtras{name_, std::move(locals)});
}

Spawner& SpawnBuilder::FindSpawner() const {
  Spawner& spawner =
      spawner_ != nullptr ? *spawner_ : Environment::CurrentSpawner();
  WEFT_CHECK(!local_ || spawner.IsLocal(),
             "SpawnBuilder().Local() was used where tasks may move to other "
             "threads: spawn inside a LocalExecutor or a current-thread "
             "runtime, or name one of this thread with On()");
  return spawner;
}

}  // namespace weft
