// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. At home nothing is shared: a spawn or a wake pushes to a ring, and
// the loop pops from it. What other threads make ready comes as letters to the
// inbox, which is looked at when the ring is empty, after each poll of the
// driver, and before each park. The park leaves a mark in the inbox (see
// executor/local_inbox.h); only the letter that replaces it costs an unpark,
// which is sticky and so ends the park that is about to begin as well.
//
// The same mark stands while Drive() futures wait for tasks. These are told also
// by what becomes ready at home, since their poller may be busy elsewhere. As
// long as one waits the mark is not taken away, only replaced, by a sender who
// tells them all.
//
// The waker of the future in Run() is the core itself, without a count. Where it
// fires too late it causes a poll of a later Run(), or nothing.
#include "weft/executor/local_core.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "weft/executor/count.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/local_inbox.h"
#include "weft/executor/poll_capture.h"
#include "weft/executor/poll_sampler.h"
#include "weft/executor/poll_times.h"
#include "weft/executor/poll_watched.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_stamp.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/probes.h"
#include "weft/task/random.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_info.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How many polls may pass before the driver is polled: Tokio's number.
constexpr uint32_t kInterval = 61;
// How many tasks a poll of Drive() runs.
constexpr int kTasksPerDrive = 200;
// What probes are told instead of a runner's index.
constexpr int kNoRunner = -1;

constinit std::mutex pool_mutex;  // guards the next one, and LocalCore::all_
constinit LocalCore* pool = nullptr;

// Of a home Runnable.
SpawnedTask& MetadataOf(void* task) {
  return static_cast<task_internal::TaskHeaderWith<SpawnedTask>*>(
             static_cast<task_internal::TaskHeader*>(task))
      ->metadata;
}

}  // namespace

constinit LocalCore* LocalCore::all_ = nullptr;

LocalCore::LocalCore() {
  const std::lock_guard lock(pool_mutex);
  next_of_all_ = std::exchange(all_, this);
}

LocalCore* LocalCore::Acquire() {
  LocalCore* core = nullptr;
  {
    const std::lock_guard lock(pool_mutex);
    core = pool;
    if (core != nullptr) pool = std::exchange(core->next_free_, nullptr);
  }
  if (core == nullptr) core = new LocalCore;
  const void* home = task_internal::ThisThread();
  // Relaxed: late wakers ask only whether it is their own thread.
  core->home_.store(home, std::memory_order_relaxed);
  core->BindTo(home);
  core->home_thread_.store(ThisThreadId());
  core->closed_ = false;
  core->ForgetCounts();
  core->inbox_.Open();
  // Release, and after the inbox is open: a late waker of an earlier main future
  // that sets this again has sent its letter, or seen an inbox that takes it.
  core->main_sent_.store(false, std::memory_order_release);
  core->question_sent_.store(false, std::memory_order_release);
  {
    const std::lock_guard lock(core->mutex_);
    core->questions_.clear();
  }
  return core;
}

void LocalCore::Release(LocalCore* core) {
  WEFT_CHECK(core->slots_ == nullptr,
             "a Drive() future outlived its LocalExecutor");
  const std::lock_guard lock(pool_mutex);
  core->next_free_ = std::exchange(pool, core);
}

bool LocalCore::IsHome() const {
  // Relaxed: as in Acquire().
  return home_.load(std::memory_order_relaxed) == task_internal::ThisThread();
}

void LocalCore::CheckHome() const {
  WEFT_CHECK(
      IsHome(),
      "a LocalExecutor (or a current-thread runtime) was used, or destroyed, "
      "on another thread than the thread that made it: spawn on its spawner() "
      "instead, and destroy it where it was made");
}

const WakerVTable LocalCore::kMainWaker = {
    .clone = [](void* data) { return Waker(&kMainWaker, data); },
    .wake = [](void* data) { static_cast<LocalCore*>(data)->WakeMain(); },
    .wake_by_ref =
        [](void* data) { static_cast<LocalCore*>(data)->WakeMain(); },
    .drop = [](void*) {},
};

class LocalCore::RunScope {
 public:
  explicit RunScope(LocalCore& core)
      : core_(core),
        environment_(MakeEnvironment(core)),
        scope_(environment_),
        outer_running_(std::exchange(core.running_, true)) {
    core_.main_woken_ = true;
    core_.in_run_.store(true, std::memory_order_relaxed);  // relaxed: a report
    core_.has_unparker_ = false;  // an outer Run() may have another driver
  }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
  // An outer Run() sets its own unparker again when it parks.
  ~RunScope() {
    if (core_.work_noticed_ && !outer_running_) core_.EndWork();
    if (core_.has_unparker_) core_.SetUnparker(nullptr);
    core_.running_ = outer_running_;
    // Relaxed: as above.
    core_.in_run_.store(outer_running_, std::memory_order_relaxed);
    core_.main_woken_ = true;  // the wake may have been for an outer Run()
  }

  const Environment& environment() const { return environment_; }

 private:
  static Environment MakeEnvironment(LocalCore& core) {
    Environment environment = Environment::Current();
    environment.spawner = &core;
    return environment;
  }

  const task_internal::NoBlockingScope no_blocking_;
  LocalCore& core_;
  const Environment environment_;
  const EnvironmentScope scope_;
  const bool outer_running_;
};

// The home thread parks while it exists.
class LocalCore::RestScope {
 public:
  explicit RestScope(LocalCore& core) : core_(core) {
    Count(core.parks_);
    core_.SyncTiming();
    core_.EndWork();
    core_.parked_.store(true, std::memory_order_relaxed);  // relaxed: a report
  }
  RestScope(const RestScope&) = delete;
  RestScope& operator=(const RestScope&) = delete;
  ~RestScope() {
    core_.parked_.store(false, std::memory_order_relaxed);  // relaxed: as above
    core_.BeginWork();
  }

 private:
  LocalCore& core_;
};

// Tasks run inside a poll or call that somebody else makes.
class LocalCore::TickScope {
 public:
  TickScope(LocalCore& core, const Environment& outer)
      : core_(core), environment_(outer), scope_(environment_) {
    environment_.spawner = &core;
    ++core_.ticking_;
  }
  TickScope(const TickScope&) = delete;
  TickScope& operator=(const TickScope&) = delete;
  ~TickScope() { --core_.ticking_; }

  const Environment& environment() const { return environment_; }

 private:
  LocalCore& core_;
  Environment environment_;
  const EnvironmentScope scope_;
};

void LocalCore::Run(absl::FunctionRef<bool(Context&)> poll) {
  CheckHome();
  WEFT_CHECK(!closed_,
             "Run() was called on a LocalExecutor after Close(), which ends it "
             "for good: make another one");
  WEFT_CHECK(task_internal::MayBlock(),
             "Run() was called by a task or inside another Run(), whose thread "
             "others may need: co_await the future instead");
  Driver& driver = Environment::CurrentDriver();
  const Waker waker(&kMainWaker, this);
  const RunScope scope(*this);
  for (;;) {
    // Tasks do not keep the future waiting for the next look at the inbox.
    // Relaxed: a hint.
    if (main_sent_.load(std::memory_order_relaxed)) TakeInbox();
    if (std::exchange(main_woken_, false)) {
      --polls_at_driver_;  // counts as a poll since then
      Budget budget;
      Context cx =
          Context(waker, &budget, &scope.environment()).WithPromptness(true);
      if (poll(cx)) return;
    }
    const bool driver_is_due = polls_.Get() - polls_at_driver_ >= kInterval;
    if (driver_is_due || before_yield_ == 0) PollDriver(driver);
    if (RunOne()) continue;
    if (main_woken_) {
      PollDriver(driver);  // a future that yields must not starve the driver
    } else {
      ParkIn(driver);
    }
  }
}

bool LocalCore::RunOne() {
  if (ready_.empty()) TakeInbox();
  if (ready_.empty()) return false;
  if (before_yield_ > 0) --before_yield_;
  void* task = ready_.Pop();
  task_internal::PrefetchRunnable(ready_.PeekNext());
  polls_.Add();
  if (timing_ && TaskStamp::IsOn(MetadataOf(task))) {
    RunStamped(task);
    return true;
  }
  Poll(task);
  return true;
}

void LocalCore::PollDriver(Driver& driver) {
  polls_at_driver_ = polls_.Get();
  before_yield_ = -1;
  Count(driver_polls_);
  if (!work_noticed_) BeginWork();
  SyncTiming();
  driver.Park(Instant::Past());
  TakeInbox();
}

void LocalCore::ParkIn(Driver& driver) {
  polls_at_driver_ = polls_.Get();
  before_yield_ = -1;
  if (!has_unparker_) {
    SetUnparker(std::make_shared<const Waker>(driver.Unparker()));
  }
  if (inbox_.FallAsleep()) {
    const ParkHookScope hooks(hooks_.get());
    const task_internal::RunnerParkProbes probes(kNoRunner);
    const RestScope rest(*this);
    driver.Park(Instant::Infinite());
  }
  if (slots_ == nullptr) inbox_.WakeUp();
  TakeInbox();
}

bool LocalCore::TryTick() {
  CheckHome();
  SyncTiming();
  const TickScope scope(*this, Environment::Current());
  return RunOne();
}

void LocalCore::Drive(Context& cx, DriveSlot& slot,
                      absl::FunctionRef<bool(Context&)> poll) {
  CheckHome();
  SyncTiming();
  Forget(slot);
  const TickScope scope(*this, cx.environment());
  Context inner = cx.WithEnvironment(&scope.environment());
  if (poll(inner)) return;
  if (RunSome()) {
    cx.waker().WakeByRef();
  } else {
    AwaitTasks(slot, cx.waker());
  }
}

bool LocalCore::RunSome() {
  before_yield_ = -1;
  for (int i = 0; i < kTasksPerDrive; ++i) {
    // Whoever polls this polls the driver before a yielded task runs again.
    if (before_yield_ == 0) return true;
    if (!RunOne()) return false;
  }
  return true;
}

void LocalCore::AwaitTasks(DriveSlot& slot, const Waker& waker) {
  slot.waker_ = waker;
  slot.waits_ = true;
  {
    const std::lock_guard lock(mutex_);
    slot.entry_ = ++entries_;
    slot.next_ = std::exchange(slots_, &slot);
  }
  // Closed, there will be no more tasks.
  if (!inbox_.FallAsleep() && !closed_) WakeSlots();
}

void LocalCore::Forget(DriveSlot& slot) {
  if (!slot.waits_) return;
  CheckHome();
  {
    const std::lock_guard lock(mutex_);
    DriveSlot** link = &slots_;
    while (*link != &slot) link = &(*link)->next_;
    *link = slot.next_;
  }
  slot.waits_ = false;
  slot.waker_ = Waker();
}

void LocalCore::WakeSlots() {
  while (slots_ != nullptr) {
    DriveSlot& slot = *slots_;
    {
      const std::lock_guard lock(mutex_);
      slots_ = slot.next_;
    }
    // Off the list it is home's alone.
    slot.waits_ = false;
    std::exchange(slot.waker_, Waker()).Wake();
  }
}

TaskDump LocalCore::Dump() {
  CheckHome();
  TaskDump dump;
  dump.queued = ready_.size();
  std::vector<SpawnedTask*> tasks;
  suspended_.AppendReferences(tasks);
  InspectTasks(std::move(tasks), dump.tasks);
  dump.Sort();
  return dump;
}

void LocalCore::Ask(const std::shared_ptr<DumpAnswers>& answers, int who) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(questions_, [](const auto& question) {
      return question.first.expired();
    });
    questions_.emplace_back(answers, who);
  }
  // One letter is enough. Acquire-release: as in SendHome().
  if (!question_sent_.exchange(true, std::memory_order_acq_rel)) {
    SendHome(kQuestion);
  }
  // Nobody reads it: there are no tasks. (Who closes has read what came before.)
  if (inbox_.IsClosed()) answers->Give(who, TaskDump());
}

void LocalCore::AnswerQuestions() {
  // Acquire-release: who asks after this sends again, what was asked before is seen.
  question_sent_.exchange(false, std::memory_order_acq_rel);
  std::vector<std::pair<std::weak_ptr<DumpAnswers>, int>> questions;
  {
    const std::lock_guard lock(mutex_);
    questions.swap(questions_);
  }
  for (const auto& [asked, who] : questions) {
    if (const auto answers = asked.lock()) answers->Give(who, Dump());
  }
}

void LocalCore::SetHooks(std::shared_ptr<const ExecutorHooks> hooks) {
  CheckHome();
  WEFT_CHECK(!running_ && ticking_ == 0,
             "SetHooks() was called by a task of the executor, or inside its "
             "Run(): call it before");
  CheckNoHooks(hooks_.get());
  hooks_ = std::make_unique<HookCaller>(std::move(hooks));
  observer_ = hooks_->poll_observer();
  ObserveSpawns(true);
}

void LocalCore::DropHooks() {
  ObserveSpawns(false);
  observer_ = nullptr;
  hooks_ = nullptr;
}

void LocalCore::NoteSpawn(Runnable<SpawnedTask>& task) {
  hooks_->NoteSpawn(task);
}

void LocalCore::NoteEnd(SpawnedTask&, TaskEnd end) { hooks_->NoteEnd(end); }

bool LocalCore::IsEmpty() {
  CheckHome();
  TakeInbox();
  return ready_.empty() && suspended_.size() == 0;
}

uint64_t LocalCore::arrivals() const {
  CheckHome();
  return arrivals_.Get();
}

void LocalCore::TakeInbox() {
  if (!inbox_.HasLetters()) return;
  inbox_.TakeAll([this](void* item) {
    if (item == nullptr) {
      // Acquire-release: a wake after this sends again, one before is seen.
      main_sent_.exchange(false, std::memory_order_acq_rel);
      main_woken_ = true;
      return;
    }
    if (item == kQuestion) return AnswerQuestions();
    arrivals_.Add();
    if (!task_internal::IsMessage(item) ||
        task_internal::ReceiveMessage(item)) {
      void* task = task_internal::TaskOf(item);
      Count(received_);
      if (timing_) StampSampled(sampler_, MetadataOf(task));
      ready_.Push(task);
    }
  });
}

void LocalCore::Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) {
  void* raw = std::move(runnable).IntoRaw();
  if (task_internal::IsMessage(raw) || !IsHome()) return SendHome(raw);
  if (schedule_is_special_) {
    if (closed_) return task_internal::DropLateRunnable(raw);
    StampSampled(sampler_, MetadataOf(raw));
  }
  Count(local_schedules_);
  if (info.woken_while_running && before_yield_ < 0) {
    before_yield_ = static_cast<int64_t>(ready_.size());
  }
  ready_.Push(raw);
  if (slots_ != nullptr) WakeSlots();
}

void LocalCore::WakeMain() {
  if (!IsHome()) return SendHome(nullptr);
  main_woken_ = true;
}

[[gnu::noinline]] void LocalCore::SendHome(void* item) {
  // Acquire-release: whoever finds it set publishes what led to the wake.
  if (item == nullptr && main_sent_.exchange(true, std::memory_order_acq_rel)) {
    return;
  }
  const bool is_task = item != nullptr && item != kQuestion;
  switch (inbox_.Send(item)) {
    case LocalInbox::Sent::kQuietly:
      return;
    case LocalInbox::Sent::kUnpark:
      return Unpark();
    case LocalInbox::Sent::kClosed:
      // A new task, or news for one that is done.
      if (is_task) task_internal::DropLateRunnable(item);
  }
}

void LocalCore::SetUnparker(std::shared_ptr<const Waker> unparker) {
  has_unparker_ = unparker != nullptr;
  const std::lock_guard lock(mutex_);
  std::swap(unparker_, unparker);
}

// Under the mutex wakers are taken or shared, never copied: that is foreign code.
void LocalCore::Unpark() {
  std::shared_ptr<const Waker> unparker;
  uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    unparker = unparker_;
    last = entries_;
  }
  if (unparker != nullptr) unparker->WakeByRef();
  // Who enters from now on sees the letter.
  for (bool more = true; more;) {
    WakeList wakers;
    more = TakeWakers(last, wakers);
    wakers.WakeAll();
  }
}

bool LocalCore::TakeWakers(uint64_t last, WakeList& wakers) {
  const std::lock_guard lock(mutex_);
  for (DriveSlot* slot = slots_; slot != nullptr; slot = slot->next_) {
    if (slot->entry_ > last || !slot->waker_) continue;
    if (wakers.IsFull()) return true;
    wakers.Add(std::exchange(slot->waker_, Waker()));
  }
  return false;
}

size_t LocalCore::Close() {
  // The last owner of a closed one may be any thread.
  if (inbox_.IsClosed()) return 0;
  CheckHome();
  WEFT_CHECK(!running_ && ticking_ == 0,
             "a LocalExecutor was closed or destroyed inside its own "
             "Run() or TryTick(); a task cannot close its executor");
  const TickScope scope(*this, Environment::Current());
  size_t dropped = Drain();
  std::vector<Waker> wakers;
  suspended_.AppendWakers(wakers);
  CancelTasks(std::move(wakers));
  for (;;) {
    dropped += Drain();
    closed_ = suspended_.size() == 0 && inbox_.Close();
    if (closed_) {
      home_thread_.store(0);
      schedule_is_special_ = true;
      return dropped;
    }
    // Another thread has just woken a task and is about to send it.
    std::this_thread::yield();
  }
}

size_t LocalCore::Drain() {
  size_t dropped = 0;
  for (;;) {
    TakeInbox();
    if (ready_.empty()) return dropped;
    Count(dropped_);
    if (task_internal::DropRunnable(ready_.Pop())) ++dropped;
  }
}

// ---- Measuring ----
//
// As executor_measure.cc, but all by the home thread. A task that another thread has
// woken gets its stamp when home reads the letter.

void LocalCore::BeginWork() {
  work_noticed_ = true;
  busy_time_.Begin(Instant::Now());
}

void LocalCore::EndWork() {
  work_noticed_ = false;
  busy_time_.End(Instant::Now());
}

// Of the executor that had this core before.
void LocalCore::ForgetCounts() {
  polls_at_driver_ = 0;
  for (Counter* counter : {&arrivals_, &polls_, &local_schedules_, &received_,
                           &dropped_, &parks_, &driver_polls_}) {
    counter->Reset();
  }
  busy_time_.Reset();
  timing_ = schedule_is_special_ = false;
  histograms_on_.store(false);
}

void LocalCore::SyncTiming() {
  // Acquire: the histograms are there.
  if (histograms_on_.load(std::memory_order_acquire) == timing_) return;
  timing_ = schedule_is_special_ = true;
  sampler_ = PollSampler(Environment::CurrentRandom().Next());
}

[[gnu::noinline]] void LocalCore::RunStamped(void* task) {
  const TaskStamp stamp = TaskStamp::TakeOff(MetadataOf(task));
  // Relaxed: `timing_` was set after an acquire load.
  PollTimes& times = *times_.load(std::memory_order_relaxed);
  sampler_.Measured(times.Run(stamp, [this, task] { Poll(task); }));
}

void LocalCore::Poll(void* task) {
  task_internal::TaskHeader* header = task_internal::TaskOf(task);
  if (observer_ == nullptr) [[likely]] {
    task_internal::RunLocalTask(header, Budget::kPerPoll);
  } else {
    task_internal::RunLocalTask(header, Budget::kPerPoll, *observer_);
  }
}

PollWatched::PollGlance LocalCore::GlanceAt(int) {
  // Relaxed: it is looked at again and again.
  return {.in_poll = in_run_.load(std::memory_order_relaxed) &&
                     !parked_.load(std::memory_order_relaxed),
          .progress = polls_.Get() + driver_polls_.Get() + parks_.Get()};
}

bool LocalCore::CapturePoll(int, Instant deadline, PollCapture& capture) {
  const pid_t thread = home_thread_.load();
  return thread != 0 && PollCapture::Take(thread, deadline, capture);
}

std::optional<TaskInfo> LocalCore::RunningTask() {
  constexpr absl::Duration kPatience = absl::Milliseconds(10);
  PollCapture capture;
  if (!CapturePoll(0, Instant::Now() + kPatience, capture)) return std::nullopt;
  if (!capture.task) return std::nullopt;
  return capture.Info();
}

LocalExecutorStats LocalCore::Stats() const {
  LocalExecutorStats stats;
  stats.parked = parked_.load(std::memory_order_relaxed);  // relaxed: a report
  stats.suspended = Suspended();
  stats.polls = polls_.Get();
  const uint64_t gone = stats.polls + dropped_.Get();
  stats.local_schedules = local_schedules_.Get();
  const uint64_t come = stats.local_schedules + received_.Get();
  stats.queue_depth = come > gone ? come - gone : 0;
  stats.arrivals = arrivals_.Get();
  stats.parks = parks_.Get();
  stats.driver_polls = driver_polls_.Get();
  stats.busy_time = absl::Nanoseconds(busy_time_.Read());
  return stats;
}

void LocalCore::EnableHistograms() {
  const std::lock_guard lock(mutex_);
  if (histograms_on_.load()) return;
  // Relaxed: written under this lock.
  if (PollTimes* used = times_.load(std::memory_order_relaxed)) {
    used->poll.Reset();
    used->latency.Reset();
  } else {
    // Release: whoever sees them sees them made.
    times_.store(new PollTimes, std::memory_order_release);
  }
  histograms_on_.store(true);
}

ExecutorHistograms LocalCore::Histograms() const {
  ExecutorHistograms histograms;
  if (!histograms_on_.load()) return histograms;
  // Acquire: pairs with EnableHistograms().
  const PollTimes& times = *times_.load(std::memory_order_acquire);
  histograms.poll_time = times.poll.Read();
  histograms.schedule_latency = times.latency.Read();
  return histograms;
}

}  // namespace weft::executor_internal
