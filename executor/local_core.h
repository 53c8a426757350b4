// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalCore: what a LocalExecutor's tasks and wakers point to. Internal.
//
// Cores come from a pool that never gives memory back, so that a thread that is
// just waking a task finds one whatever became of the executor.
//
// Thread safety: Schedule, and the wakers of Run, from any thread; the rest at
// home.
#ifndef WEFT_EXECUTOR_LOCAL_CORE_H_
#define WEFT_EXECUTOR_LOCAL_CORE_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "weft/executor/busy_time.h"
#include "weft/executor/counter.h"
#include "weft/executor/dump_answers.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/local_inbox.h"
#include "weft/executor/poll_sampler.h"
#include "weft/executor/poll_times.h"
#include "weft/executor/poll_watched.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_ring.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_info.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

// A future that drives a LocalCore, while it has nothing to do: who is told of
// the next ready task. Destroyed at home.
class DriveSlot {
 private:
  friend class LocalCore;

  // In the list guarded by the core's mutex; empty if another thread took it, to
  // wake it.
  Waker waker_;
  DriveSlot* next_ = nullptr;
  uint64_t entry_ = 0;  // which of all that were ever entered
  bool waits_ = false;  // it is in the core's list
};

class LocalCore final : public Spawner, public PollWatched {
 public:
  // A core from the pool, at home on this thread; and back, once it is closed.
  static LocalCore* Acquire();
  static void Release(LocalCore* core);

  LocalCore();
  ~LocalCore() override = default;

  bool IsHome() const;
  void CheckHome() const;
  void Run(absl::FunctionRef<bool(Context&)> poll);
  // Calls `poll` once; unless that is done, runs some tasks and sees to it that
  // `cx` is woken when there are more.
  void Drive(Context& cx, DriveSlot& slot,
             absl::FunctionRef<bool(Context&)> poll);
  void Forget(DriveSlot& slot);
  bool TryTick();
  TaskDump Dump();
  bool IsEmpty();
  uint64_t arrivals() const;
  size_t Suspended() const {
    // Relaxed: a number for people.
    return suspended_count_.load(std::memory_order_relaxed);
  }
  size_t Close();
  // As ExecutorCore's. At home.
  void SetHooks(std::shared_ptr<const ExecutorHooks> hooks);
  void DropHooks();
  // Any thread, as long as the executor lives.
  LocalExecutorStats Stats() const;
  void EnableHistograms();
  ExecutorHistograms Histograms() const;
  bool IsLocal() const override { return IsHome(); }

  // PollWatched: the home thread, in Run().
  int CountRunners() override { return 1; }
  PollGlance GlanceAt(int runner) override;
  bool CapturePoll(int runner, Instant deadline, PollCapture& capture) override;
  std::optional<TaskInfo> RunningTask();

  // Any thread: has the home thread give its dump when it comes by, if anybody waits
  // for that still. And what it does then: at home.
  void Ask(const std::shared_ptr<DumpAnswers>& answers, int who);
  void AnswerQuestions();

 private:
  class RestScope;
  class RunScope;
  class TickScope;
  static const WakerVTable kMainWaker;

  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void Register(SpawnedTask& task) override {
    suspended_.Add(task);
    CountSuspended();
  }
  void Unregister(SpawnedTask& task) override {
    suspended_.Remove(task);
    CountSuspended();
  }
  void NoteSpawn(Runnable<SpawnedTask>& task) override;
  void NoteEnd(SpawnedTask& task, TaskEnd end) override;
  void CountSuspended() {
    // Relaxed: as in Suspended().
    suspended_count_.store(suspended_.size(), std::memory_order_relaxed);
  }

  // Measuring.
  void SyncTiming();
  void ForgetCounts();
  void BeginWork();
  void EndWork();
  void Poll(void* task);
  void RunStamped(void* task);

  bool RunOne();
  // Runs tasks for one poll of Drive(); false if there are no more.
  bool RunSome();
  void PollDriver(Driver& driver);
  void ParkIn(Driver& driver);
  // Moves what other threads have sent to the ready tasks.
  void TakeInbox();
  // Destroys the ready tasks, and those that this makes ready.
  size_t Drain();

  // The future in Run() shall be polled.
  void WakeMain();
  // `item` is a Runnable, for WakeMain() null, or kQuestion: no address of a task.
  static inline void* const kQuestion = reinterpret_cast<void*>(2);
  void SendHome(void* item);
  void Unpark();
  // Takes wakers of slots up to entry `last`; false if these were all.
  bool TakeWakers(uint64_t last, WakeList& wakers);
  void SetUnparker(std::shared_ptr<const Waker> unparker);
  // Enters `slot` in the list, or wakes `waker` if there is something to do.
  void AwaitTasks(DriveSlot& slot, const Waker& waker);
  void WakeSlots();

  // Changed while no task of this core is alive; late wakers still look.
  std::atomic<const void*> home_ = nullptr;
  // The inbox has a letter that says: WakeMain(). Set by who sends it, cleared
  // when it is read. Here, where others seldom write: Run() looks at each turn.
  std::atomic<bool> main_sent_ = false;

  // The home thread's.
  TaskRing ready_;  // home Runnables, raw
  TaskList suspended_;
  // Is told of each poll. Null mostly.
  task_internal::PollObserver* observer_ = nullptr;
  bool closed_ = true;         // as the inbox
  bool running_ = false;       // in Run()
  bool main_woken_ = false;    // its future shall be polled
  bool has_unparker_ = false;  // it is the current Run()'s
  int ticking_ = 0;            // in TryTick() and Drive()
  Counter arrivals_;           // letters about tasks, so far
  // What polls_ was when the driver was polled.
  uint64_t polls_at_driver_ = 0;
  // How many tasks may still run before one that has yielded; -1: none has.
  int64_t before_yield_ = -1;

  // Set at home while nobody spawns; who spawns elsewhere reads it.
  std::unique_ptr<HookCaller> hooks_;

  // Written at home, read by anybody: see LocalExecutorStats. What becomes ready by
  // letters, and what is ready and destroyed without a poll, is counted for its
  // queue_depth.
  std::atomic<size_t> suspended_count_ = 0;
  std::atomic<bool> parked_ = false;
  std::atomic<bool> in_run_ = false;
  std::atomic<pid_t> home_thread_ = 0;
  Counter polls_, local_schedules_, received_, dropped_, parks_, driver_polls_;
  BusyTime busy_time_;

  // Whether histograms are wanted; the home thread has noticed; for what a task
  // that is made ready has to ask: noticed, or closed. `times_` is null at first,
  // then good for ever.
  std::atomic<bool> histograms_on_ = false;
  bool timing_ = false;
  bool schedule_is_special_ = true;
  bool work_noticed_ = false;  // busy_time_ has begun
  PollSampler sampler_{0};
  std::atomic<PollTimes*> times_ = nullptr;

  LocalInbox inbox_;
  // As main_sent_, for Ask().
  std::atomic<bool> question_sent_ = false;

  std::mutex mutex_;
  // Guarded by mutex_: who asks, while he waits for it, and as whom it answers.
  std::vector<std::pair<std::weak_ptr<DumpAnswers>, int>> questions_;
  // Written at home, under mutex_; others read them under it.
  // Of the driver that Run() may be parked in. Shared: others wake it after the
  // lock.
  std::shared_ptr<const Waker> unparker_;
  DriveSlot* slots_ = nullptr;      // those that wait
  uint64_t entries_ = 0;            // how many slots have come into the list
  LocalCore* next_free_ = nullptr;  // the pool's
  // All that were ever made, for debuggers (tools/gdb/weft_gdb.py).
  static LocalCore* all_;
  LocalCore* next_of_all_ = nullptr;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_LOCAL_CORE_H_
