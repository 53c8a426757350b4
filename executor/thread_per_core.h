// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ThreadPerCore: threads that share nothing, each with a LocalExecutor.
//
// A task stays on the thread that it was spawned on, so what the tasks of one
// thread share needs no lock, and no task is ever stolen. Work is divided by
// the caller: by number, or by a key whose hash chooses the thread.
//
//   auto shards = ThreadPerCore::Start(ThreadPerCoreOptions().Pinned());
//   if (!shards.ok()) return shards.status();
//   JoinHandle<Value> value = shards->SpawnByKey(
//       user_id, [=] { return Shard::OfThisThread().Get(user_id); });
//
// SpawnAt and SpawnByKey take a function that makes the future; it is called on
// the thread of the task, where the future also ends. A future that has been made
// already moves there: it, and what its parameters own, must be safe to take to
// another thread. The handle may be awaited anywhere.
// weft::Spawn() inside a task spawns on its thread.
//
// Thread safety: all methods from any thread, except moving and destruction.
// Lifetime: handles and wakers of its tasks may outlive it. Spawners do not,
// but until the last thread has destroyed its tasks all may be spawned on: the
// task is then destroyed unrun. The child of a fork() must not destroy it: see
// ThreadPool.
// Dropping: the destructor waits until the polls that run have returned; then
// each thread destroys its tasks and ends. Not in a task or in a hook:
// CHECK-fails where the thread may not block.
#ifndef WEFT_EXECUTOR_THREAD_PER_CORE_H_
#define WEFT_EXECUTOR_THREAD_PER_CORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/task/borrow.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

class ThreadPerCoreOptions {
 public:
  // At least 1. By default the number of processors that the caller may use.
  ThreadPerCoreOptions& Threads(int n) {
    WEFT_CHECK(n >= 1, "ThreadPerCore needs at least one thread");
    threads_ = n;
    return *this;
  }
  // Thread i runs only on the i-th of the processors that the caller may use,
  // beginning again behind the last.
  ThreadPerCoreOptions& Pinned() {
    pinned_ = true;
    return *this;
  }
  // Threads are called NAME-0, NAME-1, …; the system keeps 15 characters.
  ThreadPerCoreOptions& Name(std::string name) {
    name_ = std::move(name);
    return *this;
  }
  // Bytes, 0 for the system's default.
  ThreadPerCoreOptions& StackSize(size_t bytes) {
    stack_size_ = bytes;
    return *this;
  }
  // What tasks find beside their spawner: an Offload for SpawnBlocking(), a clock,
  // timers and a reactor that others drive; mostly that of a Runtime, copied: its
  // environment(). What it refers to, such as that runtime, must live longer than
  // this. Each thread has a driver of its own. By default nothing. BlockInPlace() is
  // not for these tasks, which stay on their threads.
  ThreadPerCoreOptions& InEnvironment(
      std::shared_ptr<const Environment> environment) {
    environment_ = std::move(environment);
    return *this;
  }
  // Called by each thread, with its number, before its first task and after the
  // end of its last.
  ThreadPerCoreOptions& OnThreadStart(std::function<void(int)> hook) {
    on_start_ = std::move(hook);
    return *this;
  }
  ThreadPerCoreOptions& OnThreadStop(std::function<void(int)> hook) {
    on_stop_ = std::move(hook);
    return *this;
  }

 private:
  friend class ThreadPerCore;

  int threads_ = 0;  // the default
  bool pinned_ = false;
  std::string name_ = "weft-core";
  size_t stack_size_ = 0;
  std::shared_ptr<const Environment> environment_;
  std::function<void(int)> on_start_;
  std::function<void(int)> on_stop_;
};

class ThreadPerCore {
 public:
  // Returns when all threads are ready. Fails, with the system's reason, if one
  // cannot be started; then none is left.
  static absl::StatusOr<ThreadPerCore> Start(
      ThreadPerCoreOptions options = ThreadPerCoreOptions());

  ThreadPerCore(ThreadPerCore&& other) noexcept;
  ThreadPerCore& operator=(ThreadPerCore&& other) noexcept;
  ~ThreadPerCore();

  int threads() const;

  // Runs the future that fn() returns on thread `index`, and calls fn there. Or
  // moves the future `fn` there.
  template <class Fn>
  auto SpawnAt(int index, Fn fn,
               SourceLocation at = SourceLocation::current()) const {
    return spawner(index).Spawn(std::move(fn), at);
  }
  // The same on thread IndexOf(key).
  template <class Fn>
  auto SpawnByKey(uint64_t key, Fn fn,
                  SourceLocation at = SourceLocation::current()) const {
    return SpawnAt(IndexOf(key), std::move(fn), at);
  }
  template <class Fn>
  auto SpawnByKey(std::string_view key, Fn fn,
                  SourceLocation at = SourceLocation::current()) const {
    return SpawnAt(IndexOf(key), std::move(fn), at);
  }

  // The thread for a key: always the same among as many threads, in every
  // process.
  int IndexOf(uint64_t key) const;
  int IndexOf(std::string_view key) const;

  // CHECK-fails for a thread that does not exist.
  Spawner& spawner(int index) const;

 private:
  class Core;

  explicit ThreadPerCore(std::unique_ptr<Core> core);

  Core& core() const;

  std::unique_ptr<Core> core_;  // null: moved from
};

// See task/borrow.h: a task may be given a pointer to one, as it may a Spawner&.
template <>
inline constexpr bool kReferencesBorrow<ThreadPerCore> = false;

}  // namespace weft

#endif  // WEFT_EXECUTOR_THREAD_PER_CORE_H_
