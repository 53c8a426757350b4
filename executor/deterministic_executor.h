// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DeterministicExecutor: runs tasks in an order that a seed decides, in virtual
// time, so that an interleaving that fails can be seen again.
//
// One thing happens at a time: a woken task is polled, a job of SpawnBlocking()
// runs, a source's event happens. Which one of those that could is drawn from the
// seed. When there is none, time goes to the next deadline. Everything that weft
// draws at random (the order of a Select) comes from the seed, too.
//
//   DeterministicExecutor executor({.seed = 7});
//   absl::Status status = executor.Run(TransferMoney());
//   if (!status.ok()) std::cerr << status << "\n" << executor.TraceText();
//
// executor/explore.h runs a scenario with many seeds and makes the failing run
// small. What is not weft's must be deterministic by itself: no other threads, no
// real time, no addresses or hashes of them in a decision. Descriptors are refused,
// unless AllowRealIo() was called: an operation that would wait in a reactor
// CHECK-fails.
//
// Thread safety: none; jobs of SpawnBlocking() run on the caller's thread, too. One
// that waits for a task waits for ever.
// Lifetime: wakers may outlive it and then do nothing.
// Dropping: destroys every task's future and every job, on the calling thread.
#ifndef WEFT_EXECUTOR_DETERMINISTIC_EXECUTOR_H_
#define WEFT_EXECUTOR_DETERMINISTIC_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/event_source.h"
#include "weft/executor/simulated_offload.h"
#include "weft/task/await_trace.h"
#include "weft/task/blocking_check.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/manual_core.h"
#include "weft/task/random.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"
#include "weft/timer/fake_clock.h"

namespace weft {

class DeterministicExecutor {
 public:
  struct Options {
    uint64_t seed = 0;
    // All runs together may take so many steps; more is a failure: some task wakes
    // itself for ever.
    size_t max_steps = 1'000'000;
    // If set, they decide instead of the seed, in turn, wherever there is more than
    // one thing to do; when they are used up, the one that has waited longest.
    std::optional<std::vector<uint32_t>> choices = std::nullopt;
    // Whether TraceText() is kept.
    bool trace = true;
  };

  explicit DeterministicExecutor(Options options);
  DeterministicExecutor(const DeterministicExecutor&) = delete;
  DeterministicExecutor& operator=(const DeterministicExecutor&) = delete;
  ~DeterministicExecutor();

  // As Spawner::Spawn.
  template <class F>
  auto Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
    return core_.Spawn(std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnBorrowing(F future_or_fn,
                      SourceLocation at = SourceLocation::current()) {
    return core_.SpawnBorrowing(std::move(future_or_fn), at);
  }
  Spawner& spawner() { return core_; }

  // Makes things happen until `future` is ready; returns what it gives: its Status,
  // a StatusOr of its output, or OK where it has none. Tasks that are left stay, for
  // the next Run(). Throws what the future throws. Fails with
  //   FailedPrecondition  nothing can happen any more: a lost wakeup, a deadlock
  //   ResourceExhausted   Options::max_steps
  //   Internal            a detached task has thrown; so does each later run
  // When it throws or fails so, it destroys all tasks and jobs first, while what they
  // refer to is still there.
  template <class F>
    requires Future<std::remove_reference_t<F>>
  auto Run(F&& future) {
    using T = OutputOf<std::remove_reference_t<F>>;
    using Result = typename ResultOf<T>::Type;
    Scope scope(*this);
    CountingWaker waker;
    bool woken = true;
    for (;;) {
      woken = woken || waker.TakeWakes() != 0;
      const Did did = Step(woken);
      if (did == Did::kNothing) {
        AwaitTrace trace;
        TraceFuture(future, trace);
        return Result(Stuck(trace));
      }
      if (did == Did::kTrouble) return Result(trouble_);
      if (did != Did::kMain) continue;
      woken = false;
      Budget budget;
      Context cx = Context(waker.waker(), &budget).WithPromptness(true);
      auto polled = future.Poll(cx);
      if (!polled.IsReady()) continue;
      if (HasThrown()) return Result(trouble_);
      scope.KeepTasks();
      if constexpr (std::is_void_v<T>) {
        return absl::OkStatus();
      } else {
        return Result(*std::move(polled));
      }
    }
  }

  // The same until nothing can happen: all is done, or waits for ever (OK, too: see
  // live()).
  absl::Status RunUntilIdle();

  // What is current in Run(). Futures that are made outside of it, such as After(),
  // want it to be current there, too: EnvironmentScope scope(executor.environment()).
  const Environment& environment() const { return environment_; }
  // Virtual time.
  timer::FakeClock& clock() { return clock_; }
  Random& random() { return random_; }

  // The source may be asked from now on, until it is removed.
  void AddSource(EventSource& source);
  void RemoveSource(EventSource& source);

  // From now on tasks wait for descriptors in `real.reactor`, which is part of
  // `real.driver`; both outlive this. No run can be repeated then, and IsRepeatable()
  // is false. While nothing else can happen time passes as outside, and a run fails
  // after `patience` in which nothing has come.
  void AllowRealIo(const Environment& real,
                   absl::Duration patience = absl::Seconds(10));
  bool IsRepeatable() const { return real_driver_ == nullptr; }

  // Tasks that are neither finished nor destroyed.
  size_t live() const { return core_.live(); }

  // What was done, a line for each step; the same for the same seed, to the byte.
  // "12 9ms task 1 (of 2)": step 12, at 9 ms of virtual time, polled task 1, which
  // was one of two things that could happen. SpawnBuilder gives tasks names.
  // Of the last 100,000 steps; empty without Options::trace.
  std::string TraceText() const;
  // What was chosen where there was more than one thing to do: Options::choices.
  const std::vector<uint32_t>& choices() const { return chosen_; }
  size_t steps() const { return steps_; }  // so far
  // A hash of every step: two runs that differ have different ones.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  template <class T>
  struct ResultOf;
  class UnhandledExceptions;

  // What is current while things happen. Destroys all tasks and jobs at its end,
  // unless told otherwise.
  class Scope {
   public:
    explicit Scope(DeterministicExecutor& executor);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

    void KeepTasks() { keeps_tasks_ = true; }

   private:
    DeterministicExecutor& executor_;
    const EnvironmentScope environment_;
    const task_internal::NoBlockingScope no_blocking_;
    bool keeps_tasks_ = false;
  };

  // Makes one thing happen; kMain: the caller is to poll the main future, which may
  // be chosen if it `is_woken`; kTrouble: see trouble_.
  enum class Did { kMain, kOther, kNothing, kTrouble };
  Did Step(bool is_woken);
  bool PassTime();
  bool WaitOutside(Instant next);
  size_t Choose(size_t options);
  void RunTask(size_t which, size_t options);
  // Adds a step to the trace, of `subject`, one of so many options.
  void Note(size_t options, uint64_t subject,
            absl::FunctionRef<std::string()> describe);
  // What a detached task has thrown is trouble.
  bool HasThrown();
  absl::Status Stuck(const AwaitTrace& main) const;
  Environment MakeEnvironment();

  const Options options_;
  Random order_;   // draws the order
  Random random_;  // what tasks draw
  timer::FakeClock clock_;
  task_internal::ManualCore& core_;
  SimulatedOffload offload_;
  std::vector<EventSource*> sources_;
  const std::unique_ptr<UnhandledExceptions> unhandled_;
  Environment environment_;
  Driver* real_driver_ = nullptr;
  absl::Duration patience_;
  absl::Status trouble_;

  size_t steps_ = 0;
  bool running_ = false;
  std::vector<uint32_t> chosen_;
  uint64_t fingerprint_ = 0;
  std::deque<std::string> trace_;
};

// A Status stays one, a StatusOr too; void becomes a Status, others a StatusOr.
template <class T>
struct DeterministicExecutor::ResultOf {
  using Type = absl::StatusOr<T>;
};
template <>
struct DeterministicExecutor::ResultOf<void> {
  using Type = absl::Status;
};
template <>
struct DeterministicExecutor::ResultOf<absl::Status> {
  using Type = absl::Status;
};
template <class T>
struct DeterministicExecutor::ResultOf<absl::StatusOr<T>> {
  using Type = absl::StatusOr<T>;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_DETERMINISTIC_EXECUTOR_H_
