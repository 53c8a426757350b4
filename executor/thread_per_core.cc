// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. At the end every thread leaves Run() and waits for the others to have
// left it: who awaits a task of another thread must not be polled once that one
// is gone without an output. Then each destroys its tasks and waits again before
// its LocalExecutor goes: a destructor on one thread may still spawn on another.
#include "weft/executor/thread_per_core.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/executor/allowed_cpus.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/shard_of.h"
#include "weft/executor/thread.h"
#include "weft/sync/event.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/spawner.h"

namespace weft {

using executor_internal::AllowedCpus;
using executor_internal::ShardOf;
using executor_internal::Thread;

class ThreadPerCore::Core {
 public:
  explicit Core(ThreadPerCoreOptions options) : options_(std::move(options)) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core();

  absl::Status Start();
  int threads() const { return static_cast<int>(workers_.size()); }
  Spawner& spawner(size_t index) { return *workers_[index]->spawner; }

 private:
  struct Worker {
    Spawner* spawner = nullptr;  // written before `ready`
    sync::Event ready;
    sync::Event stop;
    Thread thread;
  };
  // How far all threads are at the end.
  struct Stage {
    size_t threads = 0;  // that have come so far; guarded by mutex_
    sync::Event all;
  };

  absl::Status StartWorker(const std::vector<int>& cpus);
  void RunWorker(int index, Worker& worker);
  void WaitForTheOthers(Stage& stage);

  const ThreadPerCoreOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;

  std::mutex mutex_;
  Stage stopped_;  // they run no more tasks
  Stage closed_;   // they have destroyed theirs
};

absl::Status ThreadPerCore::Core::Start() {
  const std::vector<int> cpus = AllowedCpus();
  const size_t threads = options_.threads_ != 0
                             ? static_cast<size_t>(options_.threads_)
                             : cpus.size();
  workers_.reserve(threads);  // so that a thread that was started has a place
  while (workers_.size() < threads) {
    const absl::Status status = StartWorker(cpus);
    if (!status.ok()) return status;
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->ready.BlockingWait();
  }
  return absl::OkStatus();
}

absl::Status ThreadPerCore::Core::StartWorker(const std::vector<int>& cpus) {
  const size_t index = workers_.size();
  auto worker = std::make_unique<Worker>();
  std::vector<int> pinned;
  if (options_.pinned_) pinned = {cpus[index % cpus.size()]};
  absl::StatusOr<Thread> thread = Thread::Start(
      options_.name_ + "-" + std::to_string(index), options_.stack_size_,
      [this, index, worker = worker.get()] {
        RunWorker(static_cast<int>(index), *worker);
      },
      pinned);
  if (!thread.ok()) return thread.status();
  worker->thread = *std::move(thread);
  workers_.push_back(std::move(worker));
  return absl::OkStatus();
}

void ThreadPerCore::Core::RunWorker(int index, Worker& worker) {
  Environment environment;
  if (options_.environment_ != nullptr) environment = *options_.environment_;
  environment.driver = nullptr;  // the thread's own
  environment.random = nullptr;
  const EnvironmentScope scope(environment);
  if (options_.on_start_) options_.on_start_(index);
  {
    LocalExecutor executor;
    worker.spawner = &executor.spawner();
    worker.ready.Set();
    executor.Run(worker.stop.Wait());
    WaitForTheOthers(stopped_);
    executor.Close();
    WaitForTheOthers(closed_);
  }
  if (options_.on_stop_) options_.on_stop_(index);
}

// The vector does not change any more when a worker comes here.
// The vector does not change any more when a worker comes here.
void ThreadPerCore::Core::WaitForTheOthers(Stage& stage) {
  {
    const std::lock_guard lock(mutex_);
    if (++stage.threads == workers_.size()) stage.all.Set();
  }
  stage.all.BlockingWait();
}

ThreadPerCore::Core::~Core() {
  WEFT_CHECK(task_internal::MayBlock(),
             "a ThreadPerCore was destroyed by a task, whose thread it would "
             "wait for: keep it outside of its tasks");
  for (const std::unique_ptr<Worker>& worker : workers_) worker->stop.Set();
  for (const std::unique_ptr<Worker>& worker : workers_) worker->thread.Join();
}

absl::StatusOr<ThreadPerCore> ThreadPerCore::Start(
    ThreadPerCoreOptions options) {
  auto core = std::make_unique<Core>(std::move(options));
  const absl::Status status = core->Start();
  if (!status.ok()) return status;
  return ThreadPerCore(std::move(core));
}

ThreadPerCore::ThreadPerCore(std::unique_ptr<Core> core)
    : core_(std::move(core)) {}
ThreadPerCore::ThreadPerCore(ThreadPerCore&& other) noexcept = default;
ThreadPerCore& ThreadPerCore::operator=(ThreadPerCore&& other) noexcept =
    default;
ThreadPerCore::~ThreadPerCore() = default;

ThreadPerCore::Core& ThreadPerCore::core() const {
  WEFT_CHECK(
      core_ != nullptr,
      "this ThreadPerCore was moved from; use the one that it was moved to");
  return *core_;
}

int ThreadPerCore::threads() const { return core().threads(); }

int ThreadPerCore::IndexOf(uint64_t key) const {
  return ShardOf(key, threads());
}

int ThreadPerCore::IndexOf(std::string_view key) const {
  return ShardOf(key, threads());
}

Spawner& ThreadPerCore::spawner(int index) const {
  WEFT_CHECK(index >= 0 && index < threads(),
             "a ThreadPerCore has no such thread; they count from 0 to "
             "threads() - 1");
  return core().spawner(static_cast<size_t>(index));
}

}  // namespace weft
