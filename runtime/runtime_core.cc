// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How a shutdown goes. Stop() sets stopping_ and wakes each worker's stop
// waker; Executor::Run returns on a worker as soon as its current poll has.
// Whoever sees the last worker gone closes the executor: Finish(), if it waited
// long enough, to count what is dropped; else the last worker itself. Closing
// comes before the drivers go, so that futures unlink from living reactors and
// timers.
#include "weft/runtime/runtime_core.h"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/thread.h"
#include "weft/runtime/runtime_options.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/timer/sleep.h"

namespace weft::runtime_internal {
using executor_internal::SteadyDeadline;
using executor_internal::Thread;

namespace {

[[gnu::noinline]] RuntimeCore*& CurrentSlot() {
  constinit static thread_local RuntimeCore* current = nullptr;
  return current;
}

// The runtime that the calling thread was started for, as a worker.
[[gnu::noinline]] const RuntimeCore*& WorkerSlot() {
  constinit static thread_local const RuntimeCore* core = nullptr;
  return core;
}

BlockingPoolOptions PoolOptions(const RuntimeOptions& options,
                                RuntimeCore& core) {
  return BlockingPoolOptions()
      .OnThreadStart([&core] { CurrentSlot() = &core; })
      .OnThreadStop([] { CurrentSlot() = nullptr; })
      .MaxThreads(options.max_blocking_threads)
      .KeepAlive(options.thread_keep_alive)
      .StackSize(options.thread_stack_size)
      .Name(options.thread_name + "-b");
}

}  // namespace

// The user's handler of exceptions, as the environment wants it.
class RuntimeCore::UnhandledExceptions final
    : public UnhandledExceptionHandler {
 public:
  explicit UnhandledExceptions(std::function<void(std::exception_ptr)> handler)
      : handler_(std::move(handler)) {}
  void OnUnhandledException(std::exception_ptr exception) override {
    handler_(std::move(exception));
  }

 private:
  const std::function<void(std::exception_ptr)> handler_;
};

RuntimeCore* CurrentCore() { return CurrentSlot(); }

RuntimeCore& Checked(const std::shared_ptr<RuntimeCore>& core) {
  WEFT_CHECK(core != nullptr,
             "this Runtime or Handle was moved from: use the one it was moved "
             "to");
  return *core;
}

CoreScope::CoreScope(RuntimeCore& core, const Environment& environment)
    : environment_(environment),
      core_(core),
      previous_(std::exchange(CurrentSlot(), &core)) {}

CoreScope::~CoreScope() {
  WEFT_CHECK(CurrentSlot() == &core_,
             "an EnterGuard ended on another thread than it began, or out of "
             "order: do not hold one across co_await");
  CurrentSlot() = previous_;
}

RuntimeCore::RuntimeCore(const RuntimeOptions& options) : options_(options) {
  if (options_.on_unhandled_exception) {
    unhandled_exceptions_ =
        std::make_unique<UnhandledExceptions>(options_.on_unhandled_exception);
  }
}

RuntimeCore::~RuntimeCore() = default;

absl::StatusOr<std::shared_ptr<RuntimeCore>> RuntimeCore::Start(
    const RuntimeOptions& options) {
  auto core = std::make_shared<RuntimeCore>(options);
  absl::Status status = core->Init();
  if (status.ok() && !options.current_thread) status = core->StartWorkers();
  if (!status.ok()) {
    core->Finish(Instant::Past(), Instant::Infinite());
    return status;
  }
  return core;
}

absl::Status RuntimeCore::Init() {
  if (options_.current_thread) local_ = std::make_unique<LocalExecutor>();
  // The pool's threads own this core while they run, as the workers do.
  pool_ = std::make_unique<BlockingPool>(
      PoolOptions(options_, *this),
      std::shared_ptr<const Environment>(shared_from_this(), &outside_));
  Environment base;
  base.spawner = &spawner();
  base.offload = pool_.get();
  base.unhandled_exception = unhandled_exceptions_.get();
  const int workers = options_.current_thread ? 1 : options_.worker_threads;
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(i));
    absl::Status status = workers_[i]->drivers.Init(options_, base);
    if (!status.ok()) return status;
  }
  // Other threads wait in drivers of their own, and their leaves are served by
  // the first worker. A current-thread runtime has nobody for that.
  outside_ = base;
  if (!options_.current_thread) {
    outside_.timers = inside().timers;
    outside_.reactor = inside().reactor;
  }
  return absl::OkStatus();
}

Spawner& RuntimeCore::spawner() {
  if (local_ != nullptr) return local_->spawner();
  return executor_.spawner();
}

absl::Status RuntimeCore::StartWorkers() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    // The thread owns the core until it ends, also when it is left behind.
    auto run = [self = shared_from_this(), worker = worker.get()] {
      self->RunWorker(*worker);
      self->LeaveWorker();
    };
    absl::StatusOr<Thread> thread = Thread::Start(
        options_.thread_name + "-" + std::to_string(worker->index),
        options_.thread_stack_size, std::move(run));
    if (!thread.ok()) return thread.status();
    std::lock_guard lock(mutex_);
    ++workers_started_;
    worker->thread = *std::move(thread);
  }
  return absl::OkStatus();
}

void RuntimeCore::RunWorker(Worker& worker) {
  WorkerSlot() = this;
  const CoreScope scope(*this, worker.drivers.environment());
  // Deadlines are met to the microsecond, not to the default slack of 50.
  prctl(PR_SET_TIMERSLACK, 1UL);
  if (options_.on_thread_start) options_.on_thread_start();
  executor_.Run(PollFn([this, &worker](Context& cx) -> Polled<void> {
    worker.stop_waker.Register(cx.waker());
    if (!stopping_.load()) return kPending;
    return Unit();
  }));
  if (options_.on_thread_stop) options_.on_thread_stop();
}

void RuntimeCore::LeaveWorker() {
  bool close = false;
  {
    std::lock_guard lock(mutex_);
    ++workers_left_;
    close = abandoned_ && workers_left_ == workers_started_;
    worker_left_.notify_all();
  }
  if (close) Close();
}

void RuntimeCore::Stop() {
  stopping_.store(true);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->stop_waker.Wake();
  }
}

void RuntimeCore::Abandon() {
  Stop();
  bool close = false;
  {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    close = workers_left_ == workers_started_;
    for (const std::unique_ptr<Worker>& worker : workers_) {
      worker->thread.Detach();
    }
  }
  if (pool_ != nullptr) pool_->Shutdown(Instant::Past());
  if (close) Close();
}

ShutdownReport RuntimeCore::Finish(Instant drain_until, Instant leave_until) {
  ShutdownReport report;
  Drain(drain_until);
  Stop();
  {
    std::unique_lock lock(mutex_);
    worker_left_.wait_until(lock, SteadyDeadline(leave_until), [this] {
      return workers_left_ == workers_started_;
    });
    report.workers_running = workers_started_ - workers_left_;
  }
  // First, so that jobs which destructors submit have one outcome, too.
  if (pool_ != nullptr) {
    report.jobs_dropped = pool_->Shutdown(Instant::Past()).dropped;
  }
  if (report.workers_running == 0) {
    report.tasks_dropped = Close();
    for (const std::unique_ptr<Worker>& worker : workers_) {
      worker->thread.Join();
    }
  } else {
    report.tasks_dropped = executor_.Stats().suspended;
    Abandon();
  }
  if (pool_ != nullptr) {
    report.jobs_running = pool_->Shutdown(leave_until).running;
  }
  return report;
}

size_t RuntimeCore::Close() {
  const CoreScope scope(*this, outside_);
  const size_t dropped =
      local_ != nullptr ? local_->Close() : executor_.Close();
  // Handles may keep this core; what others wait for here must not hang.
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->drivers.Close();
  }
  return dropped;
}

void RuntimeCore::CheckMayWaitHere() const {
  WEFT_CHECK(local_ == nullptr || !local_->IsHome(),
             "Handle::BlockOn() was called on the thread of a current-thread "
             "runtime, where nobody else drives its tasks: use "
             "Runtime::BlockOn(), or co_await");
}

bool RuntimeCore::OnWorkerThread() const {
  return WorkerSlot() == this ||
         (CurrentCore() == this && !task_internal::MayBlock());
}

bool RuntimeCore::IsIdle() {
  return pool_->IsIdle() && executor_.IsEmpty() && pool_->IsIdle();
}

void RuntimeCore::Drain(Instant deadline) {
  if (pool_ == nullptr || workers_.empty()) return;  // Init() failed
  if (local_ != nullptr) {
    DrainLocal(deadline);
    return;
  }
  // A shutdown is rare and short: looking again each millisecond is cheaper
  // than a count of live tasks that every spawn would have to keep.
  std::unique_lock lock(mutex_);
  while (!IsIdle() && Instant::Now() < deadline) {
    worker_left_.wait_for(lock, std::chrono::milliseconds(1));
  }
}

void RuntimeCore::DrainLocal(Instant deadline) {
  const CoreScope scope(*this, inside());
  while (!(local_->IsEmpty() && pool_->IsIdle())) {
    const Instant now = Instant::Now();
    if (now >= deadline) return;
    local_->Run(timer::At(std::min(deadline, now + absl::Milliseconds(1))));
  }
}

LocalExecutor& CurrentLocal() {
  RuntimeCore* core = CurrentCore();
  WEFT_CHECK(core != nullptr && core->local() != nullptr,
             "SpawnLocal() was called outside a current-thread runtime: use "
             "RuntimeBuilder().CurrentThread(), or Spawn()");
  return *core->local();
}

}  // namespace weft::runtime_internal
