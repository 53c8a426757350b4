// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. At the end every thread leaves Run(), destroys its tasks, and waits
// for the others to have done so before its LocalExecutor goes: a destructor or
// a last poll on one thread may still spawn on another.
#include "weft/executor/thread_per_core.h"

#include <sched.h>

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
#include "weft/executor/local_executor.h"
#include "weft/executor/thread.h"
#include "weft/sync/event.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/spawner.h"

namespace weft {

using executor_internal::Thread;

namespace {

// The processors that the calling thread may use; at least one.
std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014): every bit of the key
// changes half of the result's.
uint64_t Mix(uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

// FNV-1a.
uint64_t HashOf(std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

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

  absl::Status StartWorker(const std::vector<int>& cpus);
  void RunWorker(int index, Worker& worker);
  void WaitForTheOthers();

  const ThreadPerCoreOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;

  std::mutex mutex_;
  size_t closed_ = 0;  // guarded by mutex_: how many have destroyed their tasks
  sync::Event all_closed_;
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
  if (options_.on_start_) options_.on_start_(index);
  {
    LocalExecutor executor;
    worker.spawner = &executor.spawner();
    worker.ready.Set();
    executor.Run(worker.stop.Wait());
    executor.Close();
    WaitForTheOthers();
  }
  if (options_.on_stop_) options_.on_stop_(index);
}

// The vector does not change any more when a worker comes here.
void ThreadPerCore::Core::WaitForTheOthers() {
  {
    const std::lock_guard lock(mutex_);
    if (++closed_ == workers_.size()) all_closed_.Set();
  }
  all_closed_.BlockingWait();
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
  // The upper half of the hash, scaled to the number of threads.
  const uint64_t upper = Mix(key) >> 32;
  return static_cast<int>((upper * static_cast<uint64_t>(threads())) >> 32);
}

int ThreadPerCore::IndexOf(std::string_view key) const {
  return IndexOf(HashOf(key));
}

Spawner& ThreadPerCore::spawner(int index) const {
  WEFT_CHECK(index >= 0 && index < threads(),
             "a ThreadPerCore has no such thread; they count from 0 to "
             "threads() - 1");
  return core().spawner(static_cast<size_t>(index));
}

}  // namespace weft
