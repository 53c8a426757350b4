// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Thread: a thread with a name, a stack of chosen size, chosen processors, and
// an error instead of an exception where the system has no more. Internal.
//
//   absl::StatusOr<Thread> thread = Thread::Start("worker-0", 1 << 20, [] { …
//   });
//
// Thread safety: one thread at a time.
// Dropping: CHECK-fails while it is neither joined nor detached, as
// std::thread.
#ifndef WEFT_EXECUTOR_THREAD_H_
#define WEFT_EXECUTOR_THREAD_H_

#include <pthread.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace weft::executor_internal {

class Thread {
 public:
  // No thread.
  Thread() = default;
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  // Starts a thread that calls body(). The system keeps 15 characters of
  // `name`, of NAME-12 the number among them; `stack_size` is in bytes, 0 for the system's default. All signals
  // that the caller blocks are blocked. It runs on the processors of `cpus`, or
  // where the caller may run if that is empty. Fails where the system refuses:
  // EAGAIN where there are too many threads, EINVAL for an impossible stack or
  // no possible processor.
  static absl::StatusOr<Thread> Start(const std::string& name,
                                      size_t stack_size,
                                      absl::AnyInvocable<void()> body,
                                      const std::vector<int>& cpus = {});

  // Both do nothing if there is no thread (any more).
  void Join();
  void Detach();

 private:
  explicit Thread(pthread_t thread) : thread_(thread), running_(true) {}

  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_THREAD_H_
