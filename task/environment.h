// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Environment: what the code that polls a future offers to it.
//
// A future that needs a reactor, timers, a clock, or a place for blocking work
// looks for it, at its first poll, in its context's environment, then in the
// calling thread's current one; what is found in neither has a lazily made
// default or, for spawning, the default runtime. Every field may be null.
//
// Thread safety: an Environment is read-only while it is current anywhere. What
// its fields point to has its own rules.
// Lifetime: an Environment and everything it names outlive each scope and each
// poll that uses it. Leaves that bound to a reactor or to timers may outlive
// them: a closed one wakes its entries and tells them so.
//
//   Environment env = Environment::Current();
//   env.clock = &fake_clock;
//   EnvironmentScope scope(env);
#ifndef WEFT_TASK_ENVIRONMENT_H_
#define WEFT_TASK_ENVIRONMENT_H_

#include <exception>

#include "weft/task/clock.h"
#include "weft/task/driver.h"
#include "weft/task/random.h"

namespace weft {

namespace io {
class Reactor;  // io/reactor.h
}
namespace timer {
class Timers;  // timer/timers.h
}
class Offload;  // task/offload.h
class Spawner;  // task/spawner.h

// Receives the exceptions of tasks whose handle was detached.
class UnhandledExceptionHandler {
 public:
  virtual ~UnhandledExceptionHandler() = default;
  // Called on the thread that polled the task, with no lock held. The task is
  // CurrentTaskId() and CurrentTaskName(). Must not throw: that ends the program.
  virtual void OnUnhandledException(std::exception_ptr exception) = 0;
};

struct Environment {
  Driver* driver = nullptr;         // else Driver::OfThread()
  const Clock* clock = nullptr;     // else Clock::Real()
  Random* random = nullptr;         // else Random::OfThread()
  Spawner* spawner = nullptr;       // else the default runtime's
  Offload* offload = nullptr;       // else the default runtime's
  timer::Timers* timers = nullptr;  // else a service thread's
  io::Reactor* reactor = nullptr;   // else a service thread's
  // Else: reported on standard error, and the process goes on.
  UnhandledExceptionHandler* unhandled_exception = nullptr;
  // Nothing outside the process is waited for: binding to a reactor that is not
  // `reactor` CHECK-fails (executor/deterministic_executor.h).
  bool is_simulated = false;

  // The calling thread's current environment; one without anything by default.
  static const Environment& Current();

  // The current environment's services, or what stands in for them as said
  // above. CurrentSpawner and CurrentOffload CHECK-fail where there is neither
  // one nor a default runtime.
  static Driver& CurrentDriver();
  static const Clock& CurrentClock();
  static Random& CurrentRandom();
  static Spawner& CurrentSpawner();
  static Offload& CurrentOffload();
};

// Makes `environment` the calling thread's current one until destruction. Scopes
// nest; they end in reverse order on the same thread (CHECK-failed otherwise), so
// one is not held across co_await.
class [[nodiscard]] EnvironmentScope {
 public:
  explicit EnvironmentScope(const Environment& environment);
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;
  ~EnvironmentScope();

 private:
  const Environment* const environment_;
  const Environment* const previous_;
};

// Says what the environment of threads outside any runtime is. Called once, at
// static initialization, by the target //runtime:default; `provider` is called
// at the first use, from any thread, and its result lives forever.
void RegisterDefaultEnvironment(const Environment& (*provider)());

}  // namespace weft

#endif  // WEFT_TASK_ENVIRONMENT_H_
