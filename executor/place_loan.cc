// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/place_loan.h"

#include "weft/executor/executor_core.h"
#include "weft/executor/runner.h"
#include "weft/executor/runner_options.h"
#include "weft/executor/stand_in.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"

namespace weft::executor_internal {

PlaceLoan::PlaceLoan()
    : runner_([]() -> Runner& {
        Runner* runner = CurrentRunner();
        WEFT_CHECK(runner != nullptr,
                   "BlockInPlace() was called by a task on a thread that is "
                   "not in Executor::Run(), whose other tasks would wait: use "
                   "SpawnBlocking()");
        return *runner;
      }()),
      environment_([] {
        Environment environment = Environment::Current();
        environment.driver = nullptr;
        environment.random = nullptr;
        return environment;
      }()),
      scope_(environment_) {
  runner_.in_place.store(true);
  CallStandIn();
  CurrentRunner() = nullptr;
  runner_.core.Flush(runner_);
  runner_.tasks.Disown();  // others may look at them meanwhile
}

void PlaceLoan::CallStandIn() {
  // One that is still in a poll, or about to leave.
  if (runner_.stand_in != nullptr && runner_.stand_in->CallBack()) return;
  runner_.stand_in.reset();
  ExecutorCore& core = runner_.core;
  Environment lent = *runner_.environment;
  lent.random = nullptr;  // the blocked thread's
  if (lent.offload == nullptr) return;
  runner_.stand_in = StandIn::Start(
      *lent.offload, runner_.awake, [&core, lent](StandIn& stand_in) {
        const EnvironmentScope scope(lent);
        // If there is no place left, the driver rests.
        static_cast<void>(core.TryRun(RunnerOptions(), [&](Context& cx) {
          return stand_in.PollStop(cx);
        }));
      });
}

PlaceLoan::~PlaceLoan() {
  runner_.tasks.Own();
  runner_.in_place.store(false);
  CurrentRunner() = &runner_;
  if (runner_.stand_in == nullptr) return;
  runner_.stand_in->Stop();
  // The rest of the poll is this thread's.
  if (!runner_.awake.load()) runner_.core.WakeUp(runner_);
}

}  // namespace weft::executor_internal
