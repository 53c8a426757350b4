// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/thread.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "weft/task/check.h"
#include "weft/task/status.h"

namespace weft::executor_internal {
namespace {

constexpr size_t kMaxName = 15;

// The first 15 characters, but with the number at the end: NAME-12.
std::string ShortName(const std::string& name) {
  if (name.size() <= kMaxName) return name;
  const size_t dash = name.rfind('-');
  const size_t number = dash == std::string::npos ? 0 : name.size() - dash;
  if (number >= kMaxName) return name.substr(0, kMaxName);
  return name.substr(0, kMaxName - number) + name.substr(name.size() - number);
}

struct ThreadStart {
  std::string name;
  absl::AnyInvocable<void()> body;
};

void* RunThread(void* argument) {
  std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(argument));
  pthread_setname_np(pthread_self(), start->name.c_str());
  start->body();
  return nullptr;
}

// Zero or an error number.
int SetCpus(pthread_attr_t& attributes, const std::vector<int>& cpus) {
  if (cpus.empty()) return 0;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
    CPU_SET(cpu, &set);
  }
  return pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
}

}  // namespace

Thread::Thread(Thread&& other) noexcept
    : thread_(other.thread_), running_(std::exchange(other.running_, false)) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  std::swap(thread_, other.thread_);
  std::swap(running_, other.running_);
  return *this;
}

Thread::~Thread() {
  WEFT_CHECK(!running_, "a Thread was dropped without Join() or Detach()");
}

absl::StatusOr<Thread> Thread::Start(const std::string& name, size_t stack_size,
                                     absl::AnyInvocable<void()> body,
                                     const std::vector<int>& cpus) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  std::string what = "start thread " + name;
  int error = SetCpus(attributes, cpus);
  if (error != 0) what += " on its processors";
  if (error == 0 && stack_size != 0) {
    error = pthread_attr_setstacksize(&attributes, stack_size);
    if (error != 0) {
      what += " with a stack of " + std::to_string(stack_size) + " bytes";
    }
  }
  pthread_t thread;
  if (error == 0) {
    std::unique_ptr<ThreadStart> start(new (std::nothrow) ThreadStart);
    error = ENOMEM;
    if (start != nullptr) {
      start->name = ShortName(name);
      start->body = std::move(body);
      error = pthread_create(&thread, &attributes, &RunThread, start.get());
    }
    if (error == 0) static_cast<void>(start.release());
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) return ErrnoStatus(error, what);
  return Thread(thread);
}

void Thread::Join() {
  if (!std::exchange(running_, false)) return;
  WEFT_CHECK(
      pthread_join(thread_, nullptr) == 0,
      "a thread was told to wait for its own end: a task or a hook of a pool's "
      "thread must not resize or destroy that pool");
}

void Thread::Detach() {
  if (std::exchange(running_, false)) pthread_detach(thread_);
}

}  // namespace weft::executor_internal
