// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Tasks that the home thread wakes go straight to its queue; those
// that others wake go to the inbox, whose first item unparks the driver. The
// inbox is looked at after each poll of the driver and before each park, and
// unparking is sticky: an item is seen by the look, or its unpark ends the park
// that follows.
#include "weft/executor/local_core.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/task_list.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How many polls may pass before the driver is polled: Tokio's number.
constexpr uint32_t kInterval = 61;

constinit std::mutex pool_mutex;  // guards the next one
constinit LocalCore* pool = nullptr;

}  // namespace

LocalCore* LocalCore::Acquire() {
  LocalCore* core = nullptr;
  {
    const std::lock_guard lock(pool_mutex);
    core = pool;
    if (core != nullptr) pool = std::exchange(core->next_free_, nullptr);
  }
  if (core == nullptr) core = new LocalCore;
  const std::lock_guard lock(core->mutex_);
  core->home_ = task_internal::ThisThread();
  core->closed_ = false;
  return core;
}

void LocalCore::Release(LocalCore* core) {
  const std::lock_guard lock(pool_mutex);
  core->next_free_ = std::exchange(pool, core);
}

bool LocalCore::IsHome() const { return home_ == task_internal::ThisThread(); }

void LocalCore::CheckHome() const {
  WEFT_CHECK(
      IsHome(),
      "a LocalExecutor (or a current-thread runtime) was used on another "
      "thread than the thread that made it; spawn on its spawner() instead");
}

class LocalCore::RunScope {
 public:
  RunScope(LocalCore& core, Waker unparker)
      : core_(core), environment_(MakeEnvironment(core)), scope_(environment_) {
    core_.running_ = true;
    const std::lock_guard lock(core_.mutex_);
    core_.unparker_ = std::move(unparker);
  }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
  ~RunScope() {
    core_.running_ = false;
    Waker unparker;  // dropped after the lock
    const std::lock_guard lock(core_.mutex_);
    std::swap(unparker, core_.unparker_);
  }

  const Environment& environment() const { return environment_; }

 private:
  static Environment MakeEnvironment(LocalCore& core) {
    Environment environment = Environment::Current();
    environment.spawner = &core;
    return environment;
  }

  const task_internal::NoBlockingScope no_blocking_;
  LocalCore& core_;
  const Environment environment_;
  const EnvironmentScope scope_;
};

void LocalCore::Run(absl::FunctionRef<bool(Context&)> poll) {
  CheckHome();
  WEFT_CHECK(task_internal::MayBlock(),
             "Run() was called by a task or inside another Run(), whose thread "
             "others may need: co_await the future instead");
  Driver& driver = Environment::CurrentDriver();
  const Waker waker = RunSignal::Make(driver.Unparker());
  RunSignal& signal = RunSignal::Of(waker);
  const RunScope scope(*this, driver.Unparker());
  for (;;) {
    if (signal.Take()) {
      ++since_driver_;
      Budget budget;
      Context cx(waker, &budget, &scope.environment());
      if (poll(cx)) return;
    }
    if (since_driver_ >= kInterval || before_yield_ == 0) PollDriver(driver);
    if (RunOne()) continue;
    if (signal.IsNotified()) {
      PollDriver(driver);  // a future that yields must not starve the driver
    } else {
      ParkIn(driver, signal);
    }
  }
}

bool LocalCore::RunOne() {
  if (ready_.empty()) TakeInbox();
  if (ready_.empty()) return false;
  void* task = ready_.front();
  ready_.pop_front();
  ++since_driver_;
  if (before_yield_ > 0) --before_yield_;
  Runnable<SpawnedTask>::FromRaw(task).Run();
  return true;
}

void LocalCore::PollDriver(Driver& driver) {
  since_driver_ = 0;
  before_yield_ = -1;
  driver.Park(Instant::Past());
  TakeInbox();
}

void LocalCore::ParkIn(Driver& driver, const RunSignal& signal) {
  since_driver_ = 0;
  before_yield_ = -1;
  // RunOne() has just found the inbox empty, with nothing run since that could
  // have taken the unpark of a later item.
  if (!signal.IsNotified()) driver.Park(Instant::Infinite());
  TakeInbox();
}

bool LocalCore::TryTick() {
  CheckHome();
  Environment environment = Environment::Current();
  environment.spawner = this;
  const EnvironmentScope scope(environment);
  ++ticking_;
  const bool ran = RunOne();
  --ticking_;
  return ran;
}

bool LocalCore::IsEmpty() {
  CheckHome();
  TakeInbox();
  return ready_.empty() && suspended_.size() == 0;
}

void LocalCore::TakeInbox() {
  {
    const std::lock_guard lock(mutex_);
    if (inbox_.empty()) return;
    std::swap(taken_, inbox_);
  }
  ready_.insert(ready_.end(), taken_.begin(), taken_.end());
  taken_.clear();
}

void LocalCore::Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) {
  if (IsHome() && !closed_) {  // closed_ is written at home alone
    if (info.woken_while_running && before_yield_ < 0) {
      before_yield_ = static_cast<int64_t>(ready_.size());
    }
    ready_.push_back(std::move(runnable).IntoRaw());
    return;
  }
  Waker unparker;
  {
    const std::lock_guard lock(mutex_);
    // Where the executor is closed only a new task can come; it is destroyed
    // here, after the lock.
    if (closed_) return;
    inbox_.push_back(std::move(runnable).IntoRaw());
    if (inbox_.size() == 1) unparker = unparker_;
  }
  std::move(unparker).Wake();
}

size_t LocalCore::Close() {
  {
    // The last owner of a closed one may be any thread.
    const std::lock_guard lock(mutex_);
    if (closed_) return 0;
  }
  CheckHome();
  WEFT_CHECK(!running_ && ticking_ == 0,
             "a LocalExecutor was closed or destroyed inside its own "
             "Run() or TryTick(); a task cannot close its executor");
  Environment environment = Environment::Current();
  environment.spawner = this;
  const EnvironmentScope scope(environment);
  size_t dropped = Drain();
  std::vector<Waker> wakers;
  suspended_.AppendWakers(wakers);
  CancelTasks(std::move(wakers));
  for (;;) {
    dropped += Drain();
    {
      const std::lock_guard lock(mutex_);
      closed_ = suspended_.size() == 0 && inbox_.empty();
      if (closed_) return dropped;
    }
    // Another thread has just woken a task and is about to send it.
    std::this_thread::yield();
  }
}

size_t LocalCore::Drain() {
  size_t dropped = 0;
  for (;;) {
    TakeInbox();
    if (ready_.empty()) return dropped;
    void* task = ready_.front();
    ready_.pop_front();
    static_cast<void>(Runnable<SpawnedTask>::FromRaw(task));
    ++dropped;
  }
}

}  // namespace weft::executor_internal
