// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. CancelAll marks the group and takes the handles of all tasks that
// run under the mutex, and aborts them after it. A task whose handle is not
// there yet is being spawned; EndSpawn, which brings it, sees the mark. So each
// task is aborted, and once. Cancel takes the handle of one task in the same way.
#include "weft/select/task_group_core.h"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "weft/sync/semaphore.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/abort_handle.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/task_id.h"
#include "weft/task/unhandled_exception.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

using sync_internal::WaitNode;

TaskGroupCore::TaskGroupCore(const TaskGroupOptions& options)
    : options_(options), permits_(options.limit) {}

TaskGroupCore::~TaskGroupCore() {
  for (GroupEntry* entry = TakeAll(); entry != nullptr;) {
    GroupEntry* const next = AllList::Next(*entry);
    delete entry;
    entry = next;
  }
}

void TaskGroupCore::Unref() {
  // Acquire-release: the last one sees every use before destroying.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool TaskGroupCore::BeginSpawn(GroupEntry& entry) {
  std::lock_guard lock(mutex_);
  all_.PushBack(entry);
  ++size_;
  ++running_;
  if (!cancelled_) return true;
  entry.spawning = false;
  return false;
}

void TaskGroupCore::EndSpawn(GroupEntry& entry,
                             std::optional<JoinHandle<>> handle) {
  std::optional<AbortHandle> abort;  // goes after the mutex is released
  TaskId id;
  if (handle.has_value()) {
    id = handle->id();
    abort = handle->MakeAbortHandle();
    (*std::move(handle)).Detach();
  }
  Lock lock(mutex_);
  entry.id = id;
  entry.spawning = false;
  if (entry.ended) {
    HandOver(std::move(lock), entry);
  } else if (!entry.detached && !cancelled_) {
    entry.abort.swap(abort);
  } else if (!entry.detached && abort.has_value()) {
    lock.unlock();
    abort->Abort();
  }
}

void TaskGroupCore::Finish(GroupEntry& entry) {
  std::optional<AbortHandle> abort;  // goes after the mutex is released
  Lock lock(mutex_);
  abort.swap(entry.abort);
  if (entry.spawning) {
    entry.ended = true;
    return;
  }
  HandOver(std::move(lock), entry);
}

void TaskGroupCore::HandOver(Lock lock, GroupEntry& entry) {
  sync_internal::WakeBatch wakers;
  wakers.Reserve(lock, [&] { return takers_.size() + enders_.size(); });
  if (entry.detached) {
    lock.unlock();
    if (entry.exception != nullptr) {
      task_internal::ReportUnhandledException(std::move(entry.exception));
    }
    delete &entry;
    return;
  }
  entry.done = true;
  done_.PushBack(entry);
  --running_;
  bool cancel = false;
  if (entry.HasFailed()) {
    if (first_status_.ok() && first_exception_ == nullptr) {
      first_status_ = entry.status;
      first_exception_ = entry.exception;
    }
    cancel = !cancelled_ && options_.on_error == OnTaskError::kCancelRest;
  }
  wakers.AddAll(takers_, WaitNode::kIdle);
  if (running_ == 0) wakers.AddAll(enders_, WaitNode::kIdle);
  lock.unlock();
  if (cancel) CancelAll();
  wakers.WakeAll();
}

void TaskGroupCore::CancelAll() {
  std::vector<AbortHandle> tasks;
  {
    Lock lock(mutex_);
    if (cancelled_) return;
    // First, for there may be no memory: then nothing has happened.
    tasks = TakeAbortHandles(lock);
    cancelled_ = true;
  }
  permits_.Close();
  for (const AbortHandle& task : tasks) task.Abort();
}

bool TaskGroupCore::Cancel(TaskId id) {
  std::optional<AbortHandle> abort;
  {
    Lock lock(mutex_);
    GroupEntry* entry = all_.front();
    while (entry != nullptr && entry->id != id) entry = AllList::Next(*entry);
    if (entry == nullptr || !entry->abort.has_value()) return false;
    entry->unwanted = true;
    abort.swap(entry->abort);
  }
  abort->Abort();
  return true;
}

void TaskGroupCore::DetachAll() {
  std::vector<AbortHandle>
      handles;  // these and the results go without the mutex
  DoneList results;
  sync_internal::WakeBatch wakers;
  {
    Lock lock(mutex_);
    handles = TakeAbortHandles(lock);
    wakers.Reserve(lock, [&] { return takers_.size() + enders_.size(); });
    for (GroupEntry* entry = all_.front(); entry != nullptr;
         entry = AllList::Next(*entry)) {
      entry->detached = true;
    }
    all_ = {};
    results = std::exchange(done_, {});
    size_ = running_ = 0;
    wakers.AddAll(takers_, WaitNode::kIdle);
    wakers.AddAll(enders_, WaitNode::kIdle);
  }
  while (GroupEntry* entry = results.front()) {
    results.Remove(*entry);
    delete entry;
  }
  wakers.WakeAll();
}

bool TaskGroupCore::IsDetached(const GroupEntry& entry) const {
  std::lock_guard lock(mutex_);
  return entry.detached;
}

std::vector<AbortHandle> TaskGroupCore::TakeAbortHandles(Lock& lock) {
  std::vector<AbortHandle> handles;
  while (handles.capacity() < running_) {
    const size_t wanted = running_;
    lock.unlock();
    handles.reserve(wanted);
    lock.lock();
  }
  for (GroupEntry* entry = all_.front(); entry != nullptr;
       entry = AllList::Next(*entry)) {
    if (!entry->abort.has_value()) continue;
    handles.push_back(*std::move(entry->abort));
    entry->abort.reset();
  }
  return handles;
}

size_t TaskGroupCore::size() const {
  std::lock_guard lock(mutex_);
  return size_;
}

size_t TaskGroupCore::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

bool TaskGroupCore::IsCancelled() const {
  std::lock_guard lock(mutex_);
  return cancelled_;
}

GroupEntry* TaskGroupCore::Find(Take take) const {
  if (take == Take::kAny) return done_.front();
  GroupEntry* const oldest = all_.front();
  return oldest != nullptr && oldest->done ? oldest : nullptr;
}

void TaskGroupCore::Remove(GroupEntry& entry) {
  all_.Remove(entry);
  done_.Remove(entry);
  --size_;
}

bool TaskGroupCore::PollTake(WaitNode& wait, Context& cx, Take take,
                             GroupEntry*& taken) {
  // Without a budget nothing is taken; HasBudget has arranged another poll.
  if (!cx.HasBudget()) return false;
  return sync_internal::PollWait(mutex_, takers_, wait, cx, [&] {
    taken = Find(take);
    if (taken == nullptr) return size_ == 0;
    Remove(*taken);
    return true;
  });
}

bool TaskGroupCore::PollAllDone(WaitNode& wait, Context& cx) {
  return sync_internal::PollWait(mutex_, enders_, wait, cx,
                                 [&] { return running_ == 0; });
}

GroupEntry* TaskGroupCore::TakeAll() {
  std::lock_guard lock(mutex_);
  AllList taken;
  for (GroupEntry* entry = all_.front(); entry != nullptr;) {
    GroupEntry* const next = AllList::Next(*entry);
    if (entry->done) {
      Remove(*entry);
      taken.PushBack(*entry);
    }
    entry = next;
  }
  return taken.front();
}

void TaskGroupCore::DropWait(WaitNode& wait, bool for_all) {
  std::lock_guard lock(mutex_);
  if (wait.state != WaitNode::kQueued) return;
  (for_all ? enders_ : takers_).Remove(wait);
}

absl::Status TaskGroupCore::first_status() const {
  std::lock_guard lock(mutex_);
  return first_status_;
}

std::exception_ptr TaskGroupCore::first_exception() const {
  std::lock_guard lock(mutex_);
  return first_exception_;
}

void TaskGroupCore::Abandon() {
  CancelAll();
  DropWait(stream_wait_, /*for_all=*/false);
  stream_wait_.waker = Waker();
#ifndef NDEBUG
  for (GroupEntry* entry = TakeAll(); entry != nullptr;) {
    GroupEntry* const next = AllList::Next(*entry);
    if (entry->exception != nullptr) {
      task_internal::ReportUnhandledException(entry->exception);
    } else if (!entry->status.ok() && !absl::IsCancelled(entry->status)) {
      std::fprintf(stderr,
                   "weft: task %llu of a TaskGroup ended with an error that "
                   "nobody has taken: %s\n",
                   static_cast<unsigned long long>(entry->id.value()),
                   entry->status.ToString().c_str());
    }
    delete entry;
    entry = next;
  }
#endif
}

}  // namespace weft::select_internal
