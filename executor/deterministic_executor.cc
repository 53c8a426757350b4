// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/deterministic_executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "weft/executor/event_source.h"
#include "weft/task/await_trace.h"
#include "weft/task/budget.h"
#include "weft/task/check.h"
#include "weft/task/current_task.h"
#include "weft/task/describe_exception.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/manual_core.h"
#include "weft/task/random.h"
#include "weft/task/runnable.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"
#include "weft/timer/fake_clock.h"

namespace weft {
namespace {

using task_internal::ManualCore;

constexpr size_t kTraceLines = 100'000;
constexpr size_t kNamedWaiters = 10;

// So that what tasks draw and the order they run in are two streams of one seed.
constexpr uint64_t kSecondStream = 0x6a09e667f3bcc908;

// FNV-1a (Fowler, Noll, Vo): the same in every run.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

std::string TextOf(const ManualCore::Label& label) {
  std::string text = absl::StrCat("task ", label.number);
  if (!label.name.empty()) absl::StrAppend(&text, " \"", label.name, "\"");
  return text;
}

// Without the ids of tasks, which are other ones in another run.
std::string TextOf(std::span<const AwaitTrace::Line> awaits) {
  std::vector<AwaitTrace::Line> lines(awaits.begin(), awaits.end());
  for (AwaitTrace::Line& line : lines) line.number = 0;
  return AwaitTrace::ToString(lines);
}

}  // namespace

// Of detached tasks: what the first one has thrown.
class DeterministicExecutor::UnhandledExceptions final
    : public UnhandledExceptionHandler {
 public:
  void OnUnhandledException(std::exception_ptr exception) override {
    if (!status.ok()) return;
    std::string who = "a detached task";
    if (!CurrentTaskName().empty()) {
      absl::StrAppend(&who, " \"", std::string(CurrentTaskName()), "\"");
    }
    status = absl::InternalError(absl::StrCat(
        who, " has thrown: ", task_internal::DescribeException(exception)));
  }

  absl::Status status;
};

DeterministicExecutor::Scope::Scope(DeterministicExecutor& executor)
    : executor_(executor), environment_(executor.environment_) {
  WEFT_CHECK(!executor.running_,
             "a DeterministicExecutor was run by a task that it runs");
  executor.running_ = true;
}

DeterministicExecutor::Scope::~Scope() {
  if (!keeps_tasks_) {
    executor_.offload_.Clear();
    executor_.core_.DestroyTasks();
    executor_.offload_.Clear();  // those which that has submitted
  }
  executor_.running_ = false;
}

DeterministicExecutor::DeterministicExecutor(Options options)
    : options_(std::move(options)),
      order_(options_.seed),
      random_(options_.seed ^ kSecondStream),
      core_(ManualCore::Take()),
      unhandled_(std::make_unique<UnhandledExceptions>()),
      environment_(MakeEnvironment()) {
  sources_.push_back(&offload_);
}

DeterministicExecutor::~DeterministicExecutor() {
  offload_.Close();
  {
    const Scope destroys_tasks(*this);
  }
  core_.GiveBack();
}

Environment DeterministicExecutor::MakeEnvironment() {
  Environment environment;
  environment.clock = &clock_;
  environment.random = &random_;
  environment.spawner = &core_;
  environment.offload = &offload_;
  environment.unhandled_exception = unhandled_.get();
  environment.is_simulated = true;
  return environment;
}

void DeterministicExecutor::AddSource(EventSource& source) {
  sources_.push_back(&source);
}

void DeterministicExecutor::RemoveSource(EventSource& source) {
  std::erase(sources_, &source);
}

absl::Status DeterministicExecutor::RunUntilIdle() {
  Scope scope(*this);
  Did did = Did::kOther;
  while (did == Did::kOther) did = Step(/*is_woken=*/false);
  if (did == Did::kTrouble || HasThrown()) return trouble_;
  scope.KeepTasks();
  return absl::OkStatus();
}

bool DeterministicExecutor::HasThrown() {
  if (unhandled_->status.ok()) return false;
  trouble_ = unhandled_->status;
  return true;
}

// What can happen is numbered: the woken tasks, the main future, the events of each
// source.
DeterministicExecutor::Did DeterministicExecutor::Step(bool is_woken) {
  if (HasThrown()) return Did::kTrouble;
  const size_t woken = core_.woken();
  size_t options = woken + is_woken;
  for (const EventSource* source : sources_) options += source->ready();
  if (options != 0 && steps_ >= options_.max_steps) {
    trouble_ = absl::ResourceExhaustedError(
        absl::StrCat("not at its end after ", steps_,
                     " steps: does a task wake itself for ever?"));
    return Did::kTrouble;
  }
  if (options == 0) return PassTime() ? Did::kOther : Did::kNothing;
  if (real_driver_ != nullptr) real_driver_->Park(Instant::Past());
  size_t which = Choose(options);
  if (which < woken) {
    RunTask(which, options);
    return Did::kOther;
  }
  which -= woken;
  if (is_woken && which == 0) {
    Note(options, 0, [] { return std::string("the main future"); });
    return Did::kMain;
  }
  which -= is_woken;
  for (EventSource* source : sources_) {
    if (which < source->ready()) {
      const std::string what = source->Describe(which);
      Note(options, HashOf(what), [&] { return what; });
      source->Happen(which);
      break;
    }
    which -= source->ready();
  }
  return Did::kOther;
}

// Nothing can happen now.
bool DeterministicExecutor::PassTime() {
  Instant next = clock_.NextDeadline();
  for (const EventSource* source : sources_) {
    next = std::min(next, source->NextTime());
  }
  if (real_driver_ != nullptr) return WaitOutside(next);
  if (next.IsInfinite()) return false;
  Note(1, 0, [] { return std::string("time passes"); });
  clock_.Set(std::max(next, clock_.Now()));
  return true;
}

void DeterministicExecutor::AllowRealIo(const Environment& real,
                                        absl::Duration patience) {
  WEFT_CHECK(real.driver != nullptr && real.reactor != nullptr,
             "AllowRealIo() needs a driver and a reactor");
  real_driver_ = real.driver;
  patience_ = patience;
  environment_.reactor = real.reactor;
  environment_.is_simulated = false;
}

// False if nothing has come for too long.
bool DeterministicExecutor::WaitOutside(Instant next) {
  Note(1, 0, [] { return std::string("the world outside"); });
  const absl::Duration limit =
      next.IsInfinite() ? patience_ : next - clock_.Now();
  const Instant began = Instant::Now();
  real_driver_->Park(began + limit);
  const absl::Duration passed = Instant::Now() - began;
  clock_.Advance(std::min(passed, limit));
  // A thread outside does not unpark the driver when it wakes a task.
  return passed < limit || !next.IsInfinite() || core_.woken() != 0;
}

size_t DeterministicExecutor::Choose(size_t options) {
  if (options == 1) return 0;
  size_t choice = 0;
  if (!options_.choices.has_value()) {
    choice = order_.Below(static_cast<uint32_t>(options));
  } else if (chosen_.size() < options_.choices->size()) {
    // Those of another run may not fit.
    choice = std::min<size_t>((*options_.choices)[chosen_.size()], options - 1);
  }
  chosen_.push_back(static_cast<uint32_t>(choice));
  return choice;
}

void DeterministicExecutor::RunTask(size_t which, size_t options) {
  Runnable<SpawnedTask> runnable = *core_.Pop(which);
  const uint32_t number = runnable.metadata().shard;
  Note(options, number, [&] { return TextOf(ManualCore::LabelOf(runnable)); });
  core_.Run(std::move(runnable), Budget::kPerPoll);
}

void DeterministicExecutor::Note(size_t options, uint64_t subject,
                                 absl::FunctionRef<std::string()> describe) {
  ++steps_;
  const absl::Duration time = clock_.Now() - timer::FakeClock::kStart;
  for (const uint64_t part :
       {uint64_t{options}, subject,
        static_cast<uint64_t>(absl::ToInt64Nanoseconds(time))}) {
    fingerprint_ = Random(fingerprint_ ^ part).Next();
  }
  if (!options_.trace) return;
  trace_.push_back(absl::StrCat(steps_, " ", absl::FormatDuration(time), " ",
                                describe(), " (of ", options, ")\n"));
  if (trace_.size() > kTraceLines) trace_.pop_front();
}

std::string DeterministicExecutor::TraceText() const {
  return absl::StrCat(IsRepeatable() ? "" : "not repeatable: real I/O\n",
                      absl::StrJoin(trace_, ""));
}

absl::Status DeterministicExecutor::Stuck(const AwaitTrace& main) const {
  const auto waiting = core_.Suspended();
  std::string who = absl::StrCat("the main future\n", TextOf(main.lines()));
  for (size_t i = 0; i < std::min(waiting.size(), kNamedWaiters); ++i) {
    const auto& [label, info] = waiting[i];
    absl::StrAppend(&who, TextOf(label), ", spawned at ",
                    FileAndLine(info.spawned_at), "\n", TextOf(info.awaits));
  }
  if (waiting.size() > kNamedWaiters) {
    absl::StrAppend(&who, "and ", waiting.size() - kNamedWaiters, " more\n");
  }
  return absl::FailedPreconditionError(
      absl::StrCat("after ", steps_,
                   " steps nothing can happen any more (a lost wakeup? a "
                   "deadlock?); waiting:\n",
                   who));
}

}  // namespace weft
