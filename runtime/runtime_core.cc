// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How a shutdown goes. Stop() sets stopping_ and wakes each worker's stop
// waker; a worker stops as soon as its current poll has returned, and then still
// serves its driver: a poll that blocks in place elsewhere may wait for an event of
// it. Once all have stopped, no task is polled any more, and one thread closes the
// flavour, which destroys the tasks: Finish(), if it waited long enough, to count
// what is dropped; else the last worker itself. The last of that thread and of the
// workers closes the drivers, so that futures unlink from living reactors and timers.
#include "weft/runtime/runtime_core.h"

#include <sys/prctl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/allowed_cpus.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/shard_of.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_lints.h"
#include "weft/executor/thread.h"
#include "weft/runtime/current_thread_flavour.h"
#include "weft/runtime/flavour.h"
#include "weft/runtime/multi_thread_flavour.h"
#include "weft/runtime/runtime_options.h"
#include "weft/runtime/thread_per_core_flavour.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {
using executor_internal::AllowedCpus;
using executor_internal::ShardOf;
using executor_internal::SteadyDeadline;
using executor_internal::Thread;

namespace {

[[gnu::noinline]] RuntimeCore*& CurrentSlot() {
  constinit static thread_local RuntimeCore* current = nullptr;
  return current;
}

// What the calling thread was started for.
struct WorkerPlace {
  const RuntimeCore* core = nullptr;  // null: it is no worker
  int index = 0;
};
[[gnu::noinline]] WorkerPlace& ThisPlace() {
  constinit static thread_local WorkerPlace place;
  return place;
}

// Where workers and the threads for blocking jobs may run, if they are pinned.
std::vector<int> CpusToPin(const RuntimeOptions& options) {
  return options.pin_threads ? AllowedCpus() : std::vector<int>();
}

std::unique_ptr<Flavour> MakeFlavour(const RuntimeOptions& options,
                                     ExecutorHooks task_hooks) {
  std::shared_ptr<const ExecutorHooks> hooks;
  if (!task_hooks.IsEmpty()) {
    hooks = std::make_shared<const ExecutorHooks>(std::move(task_hooks));
  }
  if (options.current_thread) {
    return std::make_unique<CurrentThreadFlavour>(std::move(hooks));
  }
  if (options.thread_per_core) {
    return std::make_unique<ThreadPerCoreFlavour>(options.worker_threads,
                                                  std::move(hooks));
  }
  return std::make_unique<MultiThreadFlavour>(std::move(hooks));
}

BlockingPoolOptions PoolOptions(const RuntimeOptions& options,
                                RuntimeCore& core) {
  return BlockingPoolOptions()
      .OnThreadStart([&core] { CurrentSlot() = &core; })
      .OnThreadStop([] { CurrentSlot() = nullptr; })
      .MaxThreads(options.max_blocking_threads)
      .KeepAlive(options.thread_keep_alive)
      .QueueCapacity(options.blocking_queue_capacity)
      .Affinity(CpusToPin(options))
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
  if (status.ok()) status = core->StartMonitor();
  if (status.ok()) status = core->StartLints();
  if (!status.ok()) {
    core->Finish(Instant::Past(), Instant::Infinite());
    return status;
  }
  return core;
}

absl::Status RuntimeCore::StartMonitor() {
  if (!options_.stuck_tasks.has_value()) return absl::OkStatus();
  absl::StatusOr<StuckTaskMonitor> monitor =
      flavour_->Watch(*options_.stuck_tasks);
  if (!monitor.ok()) return monitor.status();
  monitor_.emplace(*std::move(monitor));
  return absl::OkStatus();
}

absl::Status RuntimeCore::StartLints() {
  if (!lints_.has_value()) return absl::OkStatus();
  return lints_->Start([this] { return DumpTasks(absl::Milliseconds(100)); },
                       [this](StuckTaskMonitorOptions options) {
                         return flavour_->Watch(std::move(options));
                       });
}

absl::Status RuntimeCore::Init() {
  if (options_.lints.has_value()) lints_.emplace(*options_.lints);
  flavour_ = MakeFlavour(options_, lints_.has_value()
                                       ? lints_->Hooks(options_.task_hooks)
                                       : options_.task_hooks);
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
  if (options_.histograms) flavour_->EnableHistograms();
  flavour_->AddMetricsTo(metrics_);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->drivers.AddMetricsTo(metrics_, worker->index);
  }
  pool_registration_ = metrics_.Add(pool_metrics_.emplace(*pool_));
  // Other threads wait in drivers of their own, and their leaves are served by
  // the first worker. A current-thread runtime has nobody for that.
  outside_ = base;
  if (!options_.current_thread) {
    outside_.timers = inside().timers;
    outside_.reactor = inside().reactor;
  }
  return absl::OkStatus();
}

Spawner& RuntimeCore::SpawnerAt(int worker) {
  WEFT_CHECK(worker >= 0 && worker < worker_threads(),
             "a runtime has no such worker; they count from 0 to "
             "worker_threads() - 1");
  Spawner* spawner = flavour_->SpawnerAt(worker);
  WEFT_CHECK(
      spawner != nullptr,
      "SpawnAt() or SpawnByKey() was called on a runtime whose tasks move "
      "from worker to worker: build it with "
      "RuntimeBuilder().ThreadPerCore(), or use Spawn()");
  return *spawner;
}

Spawner& RuntimeCore::SpawnerOf(uint64_t key) {
  return SpawnerAt(ShardOf(key, worker_threads()));
}

Spawner& RuntimeCore::SpawnerOf(std::string_view key) {
  return SpawnerAt(ShardOf(key, worker_threads()));
}

LocalExecutor* RuntimeCore::driven() {
  return options_.current_thread ? flavour_->LocalAt(0) : nullptr;
}

LocalExecutor* RuntimeCore::LocalHere() {
  if (options_.current_thread) return flavour_->LocalAt(0);
  const WorkerPlace& place = ThisPlace();
  return place.core == this ? flavour_->LocalAt(place.index) : nullptr;
}

absl::Status RuntimeCore::StartWorkers() {
  const std::vector<int> cpus = CpusToPin(options_);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    // The thread owns the core until it ends, also when it is left behind.
    auto run = [self = shared_from_this(), worker = worker.get()] {
      self->RunWorker(*worker);
      self->NoteLeft();
    };
    worker->unparker = worker->drivers.environment().driver->Unparker();
    std::vector<int> pinned;
    if (!cpus.empty()) {
      pinned = {cpus[static_cast<size_t>(worker->index) % cpus.size()]};
    }
    absl::StatusOr<Thread> thread = Thread::Start(
        options_.thread_name + "-" + std::to_string(worker->index),
        options_.thread_stack_size, std::move(run), pinned);
    if (!thread.ok()) return thread.status();
    std::lock_guard lock(mutex_);
    ++workers_started_;
    worker->thread = *std::move(thread);
  }
  flavour_->AwaitWorkers();
  return absl::OkStatus();
}

void RuntimeCore::RunWorker(Worker& worker) {
  ThisPlace() = {.core = this, .index = worker.index};
  flavour_->Enter(worker.index);
  Environment environment = worker.drivers.environment();
  if (Spawner* here = flavour_->SpawnerAt(worker.index)) {
    environment.spawner = here;  // also in hooks
  }
  const CoreScope scope(*this, environment);
  // Deadlines are met to the microsecond, not to the default slack of 50.
  prctl(PR_SET_TIMERSLACK, 1UL);
  if (options_.on_thread_start) options_.on_thread_start();
  auto stop = [this, &worker](Context& cx) -> Polled<void> {
    worker.stop_waker.Register(cx.waker());
    if (!stopping_.load()) return kPending;
    return Unit();
  };
  flavour_->Run(worker.index, stop);
  NoteStopped();
  ServeOthers();
  flavour_->Leave(worker.index);
  if (options_.on_thread_stop) options_.on_thread_stop();
}

void RuntimeCore::NoteStopped() {
  bool close = false;
  bool all = false;
  {
    std::lock_guard lock(mutex_);
    ++workers_stopped_;
    all = workers_stopped_ == workers_started_;
    close = abandoned_ && MayClose();
    workers_changed_.notify_all();
  }
  if (all) WakeServing();
  if (close) Close(Instant::Past());
}

void RuntimeCore::ServeOthers() {
  Driver& driver = Environment::CurrentDriver();
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (workers_stopped_ == workers_started_ || abandoned_) return;
    }
    driver.Park(Instant::Infinite());
  }
}

void RuntimeCore::WakeServing() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->unparker) worker->unparker.WakeByRef();
  }
}

void RuntimeCore::NoteLeft() {
  bool close = false;
  {
    std::lock_guard lock(mutex_);
    ++workers_left_;
    close = closed_ && workers_left_ == workers_started_;
    workers_changed_.notify_all();
  }
  if (close) CloseDrivers();
}

size_t RuntimeCore::AwaitWorkers(const size_t& count, Instant deadline) {
  std::unique_lock lock(mutex_);
  workers_changed_.wait_until(lock, SteadyDeadline(deadline), [this, &count] {
    return count == workers_started_;
  });
  return workers_started_ - count;
}

void RuntimeCore::Stop() {
  // Before the executors go.
  monitor_.reset();
  lints_.reset();
  stopping_.store(true);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->stop_waker.Wake();
  }
  flavour_->Stop();
}

void RuntimeCore::Abandon() {
  Stop();
  bool close = false;
  {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    close = MayClose();
    for (const std::unique_ptr<Worker>& worker : workers_) {
      worker->thread.Detach();
    }
  }
  WakeServing();
  if (pool_ != nullptr) pool_->Shutdown(Instant::Past());
  if (close) Close(Instant::Past());
}

ShutdownReport RuntimeCore::Finish(Instant drain_until, Instant leave_until) {
  ShutdownReport report;
  Drain(drain_until);
  Stop();
  report.workers_running = AwaitWorkers(workers_stopped_, leave_until);
  // First, so that jobs which destructors submit have one outcome, too.
  if (pool_ != nullptr) {
    report.jobs_dropped = pool_->Shutdown(Instant::Past()).dropped;
  }
  if (report.workers_running == 0) {
    report.tasks_dropped = Close(leave_until);
    report.workers_running = AwaitWorkers(workers_left_, leave_until);
  } else {
    report.tasks_dropped = flavour_->suspended();
  }
  if (report.workers_running == 0) {
    for (const std::unique_ptr<Worker>& worker : workers_) {
      worker->thread.Join();
    }
  } else {
    Abandon();
  }
  if (pool_ != nullptr) {
    report.jobs_running = pool_->Shutdown(leave_until).running;
  }
  return report;
}

bool RuntimeCore::MayClose() {
  if (workers_stopped_ != workers_started_) return false;
  return !std::exchange(closing_, true);
}

size_t RuntimeCore::Close(Instant deadline) {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;  // also where nobody else could have
  }
  const CoreScope scope(*this, outside_);
  const size_t dropped = flavour_->Close(deadline);
  bool close = false;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    close = workers_left_ == workers_started_;
  }
  if (close) CloseDrivers();
  return dropped;
}

// Handles may keep this core; what others wait for here must not hang.
void RuntimeCore::CloseDrivers() {
  const CoreScope scope(*this, outside_);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->drivers.Close();
  }
}

void RuntimeCore::CheckMayWaitHere() const {
  WEFT_CHECK(!options_.current_thread || !flavour_->LocalAt(0)->IsHome(),
             "Handle::BlockOn() was called on the thread of a current-thread "
             "runtime, where nobody else drives its tasks: use "
             "Runtime::BlockOn(), or co_await");
}

bool RuntimeCore::OnWorkerThread() const {
  return ThisPlace().core == this ||
         (CurrentCore() == this && !task_internal::MayBlock());
}

void RuntimeCore::Drain(Instant deadline) {
  if (pool_ == nullptr || workers_.empty()) return;  // Init() failed
  // A current-thread runtime runs its tasks here.
  std::optional<CoreScope> scope;
  if (options_.current_thread) scope.emplace(*this, inside());
  flavour_->Drain(deadline, [this] { return pool_->IsIdle(); });
}

LocalExecutor& CurrentLocal() {
  RuntimeCore* core = CurrentCore();
  LocalExecutor* local = core != nullptr ? core->LocalHere() : nullptr;
  WEFT_CHECK(local != nullptr,
             "SpawnLocal() was called outside the tasks of a current-thread or "
             "thread-per-core runtime: use RuntimeBuilder().CurrentThread() or "
             ".ThreadPerCore(), or Spawn()");
  return *local;
}

}  // namespace weft::runtime_internal
