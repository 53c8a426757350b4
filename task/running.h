// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Running: what the calling thread is running: which task, with which
// task-local values, and whether it may block. Internal.
//
// One record per thread. Whoever polls or destroys a task describes it there
// and puts back what was there before, so nested runs come out right.
//
// Thread safety: per thread. Lifetime: the task and the values outlive the
// scope that names them.
#ifndef WEFT_TASK_RUNNING_H_
#define WEFT_TASK_RUNNING_H_

#include <atomic>

namespace weft::task_internal {

struct TaskIdentity;  // task/task_identity.h
struct LocalNode;     // task/local_list.h

struct Running {
  const TaskIdentity* task = nullptr;  // being polled or destroyed, or null
  const LocalNode* locals = nullptr;   // innermost first
  bool may_block = true;               // see task/blocking_check.h
  bool polls = false;  // the task's future exists; see PollIsOver()
  bool lives = false;  // the task is there; for signals
  bool woken = false;  // the task has woken itself meanwhile
};

// The future of the task that this thread polls is about to be destroyed: signals may
// not look at it any more.
void PollIsOver();

// The calling thread's record. To be asked for again after a suspension.
Running& ThisThreadRuns();

// Makes the calling thread's record `now` until destruction.
class RunningScope {
 public:
  explicit RunningScope(const Running& now)
      : record_(ThisThreadRuns()), previous_(record_) {
    TaskIsOver();
    record_.task = now.task;
    record_.locals = now.locals;
    record_.may_block = now.may_block;
    record_.woken = now.woken;
    Continue(now.polls, now.task != nullptr);
  }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;
  ~RunningScope() {
    if (!left_) {
      TaskIsOver();
      GoBack();
    }
    record_.may_block = previous_.may_block;
  }

  // Requires: LeaveTask() was not called.
  bool woken() const { return record_.woken; }

  // The task is about to be another thread's, or to be freed: signals may not look at
  // it any more.
  void TaskIsOver() {
    record_.polls = false;
    record_.lives = false;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  // The task, whose poll is over, is over or somebody else's: forget it now. What is
  // called from now on runs for the task that ran before, and may wake it.
  void LeaveTask() {
    GoBack();
    left_ = true;
  }

 private:
  // A signal between two of these steps finds no task that is polled.
  void GoBack() {
    record_.task = previous_.task;
    record_.locals = previous_.locals;
    record_.woken = previous_.woken;
    Continue(previous_.polls, previous_.lives);
  }
  void Continue(bool polls, bool lives) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    record_.lives = lives;
    record_.polls = polls;
  }

  Running& record_;
  const Running previous_;
  bool left_ = false;
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_RUNNING_H_
