// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A descriptor is registered once, edge-triggered, for everything,
// and never re-armed. Park makes one epoll_pwait2 and hands each event to its
// cell by index and generation (source_cell.cc says why none is lost and none
// misdelivered); the wakers that this collects are called with no lock held.
//
// The epoll descriptor is used by others only under mutex_ and while it is
// open, so its number can not have been used anew. Close takes the cells off
// the list one by one, and tells each with no lock held.
#include "weft/io/reactor_core.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/notifier.h"
#include "weft/io/readiness.h"
#include "weft/io/source_cell.h"
#include "weft/io/wake_flag.h"
#include "weft/task/instant.h"
#include "weft/task/status.h"
#include "weft/task/wake_list.h"

namespace weft::io::io_internal {
namespace {

constexpr uint64_t kNotifierToken = std::numeric_limits<uint64_t>::max();
constexpr int kEventsPerWait = 256;
constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

uint32_t BitsOf(uint32_t events) {
  uint32_t bits = 0;
  if ((events & EPOLLIN) != 0) bits |= kReadable;
  if ((events & EPOLLOUT) != 0) bits |= kWritable;
  if ((events & EPOLLPRI) != 0) bits |= kUrgent;
  if ((events & EPOLLRDHUP) != 0) bits |= kReadable | kReadClosed;
  if ((events & EPOLLHUP) != 0) {
    bits |= kReadable | kReadClosed | kWritable | kWriteClosed;
  }
  // What the error is, the next call in either direction says.
  if ((events & EPOLLERR) != 0) bits |= kReadable | kWritable;
  return bits;
}

// The nanoseconds until `deadline`; 0 if it is over, -1 if it never comes.
int64_t TimeLeft(Instant deadline) {
  if (deadline.IsInfinite()) return -1;
  if (deadline == Instant::Past()) return 0;
  const int64_t now = Instant::Now().nanoseconds();
  return std::max<int64_t>(deadline.nanoseconds() - now, 0);
}

// The C library's where it has one: sanitizers know that it blocks.
int EpollPwait2(int epoll, epoll_event* events, const timespec* timeout) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
  return epoll_pwait2(epoll, events, kEventsPerWait, timeout, nullptr);
#else
  return static_cast<int>(syscall(SYS_epoll_pwait2, epoll, events,
                                  kEventsPerWait, timeout, nullptr, 0));
#endif
}

// Relaxed: a statistic.
void Count(std::atomic<uint64_t>& counter, uint64_t n) {
  counter.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

// Cores without a reactor.
struct ReactorCore::Pool {
  static Pool& Get() {
    static Pool& pool = *new Pool;
    return pool;
  }
  ReactorCore* Take() {
    std::lock_guard lock(mutex);
    if (free == nullptr) return new ReactorCore;
    return std::exchange(free, free->next_free_);
  }
  void Put(ReactorCore* core) {
    std::lock_guard lock(mutex);
    core->next_free_ = std::exchange(free, core);
  }

  std::mutex mutex;
  ReactorCore* free = nullptr;
};

absl::StatusOr<ReactorCore*> ReactorCore::Open() {
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.IsValid()) return ErrnoStatus(errno, "epoll_create1");
  absl::StatusOr<Notifier*> notifier = Notifier::Create();
  if (!notifier.ok()) return notifier.status();
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kNotifierToken;
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, (*notifier)->fd(), &event) < 0) {
    const int error = errno;
    (*notifier)->Unref();
    return ErrnoStatus(error, "epoll_ctl(ADD, eventfd)");
  }
  ReactorCore* core = Pool::Get().Take();
  core->notifier_ = *notifier;
  core->has_pwait2_ = true;
  // Relaxed: statistics.
  ReactorCounters& counters = core->counters_;
  for (auto* counter :
       {&counters.waits, &counters.events, &counters.stale_events,
        &counters.delivered, &counters.registered, &counters.deregistered}) {
    counter->store(0, std::memory_order_relaxed);
  }
  std::lock_guard lock(core->mutex_);
  core->epoll_ = std::move(epoll);
  return core;
}

void ReactorCore::Close() {
  {
    std::lock_guard lock(mutex_);
    epoll_.Reset();
  }
  WakeList wakers;
  for (;;) {
    SourceCell* cell;
    uint32_t generation;
    {
      std::lock_guard lock(mutex_);
      if (cells_ == nullptr) break;
      cell = cells_;
      // While it is on the list its source has not let go of it.
      generation = cell->readiness.Load().generation();
      Unlink(*cell);
    }
    cell->Deliver(generation, kShutdown, wakers);
  }
  wakers.WakeAll();
}

void ReactorCore::Release() {
  Close();
  std::exchange(notifier_, nullptr)->Unref();
  Pool::Get().Put(this);
}

bool ReactorCore::WatchesNothing() const {
  // Sequentially consistent: see wake_flag.h.
  return cell_count_.load() == 0;
}

// Without a descriptor there is nothing to ask the kernel, and a sleep on the flag's
// word is cheaper than one in epoll.
void ReactorCore::ParkOnWord(Instant deadline) {
  WakeFlag& flag = notifier_->flag();
  if (deadline != Instant::Past() && flag.BeginWait(Sleep::kOnWord) &&
      WatchesNothing()) {
    Count(counters_.waits, 1);
    notifier_->SleepOnWord(deadline);
  }
  flag.EndWait();
}

void ReactorCore::Park(Instant deadline) {
  if (WatchesNothing()) return ParkOnWord(deadline);
  epoll_event events[kEventsPerWait];
  // Acquire, and release below: what belongs to the thread inside. One that came
  // by TryPoll() has gone in a moment.
  while (in_use_.exchange(true, std::memory_order_acquire)) sched_yield();
  const bool may_sleep = deadline != Instant::Past() &&
                         notifier_->flag().BeginWait(Sleep::kInEpoll);
  const int count = Wait(events, may_sleep ? deadline : Instant::Past());
  notifier_->flag().EndWait();
  in_use_.store(false, std::memory_order_release);
  Dispatch(events, count);
}

// Leaves the notifier's flag alone: a wake is for the thread that parks. Nor does
// it matter whose events are dispatched first: one that comes late makes its cell
// seem ready, and the next call on the descriptor shows the truth.
bool ReactorCore::TryPoll() {
  if (WatchesNothing()) return true;
  epoll_event events[kEventsPerWait];
  // Acquire and release: as in Park().
  if (in_use_.exchange(true, std::memory_order_acquire)) return false;
  const int count = Wait(events, Instant::Past());
  in_use_.store(false, std::memory_order_release);
  Dispatch(events, count);
  return true;
}

// Returns the number of events, or -1 after a signal.
int ReactorCore::Wait(epoll_event* events, Instant deadline) {
  const int count = WaitInKernel(events, deadline);
  Count(counters_.waits, 1);
  if (count > 0) Count(counters_.events, static_cast<uint64_t>(count));
  return count;
}

int ReactorCore::WaitInKernel(epoll_event* events, Instant deadline) {
  const int64_t left = TimeLeft(deadline);
  if (has_pwait2_) {
    timespec timeout;
    timeout.tv_sec = static_cast<time_t>(left / kNanosecondsPerSecond);
    timeout.tv_nsec = static_cast<long>(left % kNanosecondsPerSecond);
    const int count =
        EpollPwait2(epoll_.get(), events, left < 0 ? nullptr : &timeout);
    // Linux before 5.11 does not know the call; old seccomp filters forbid it.
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
    has_pwait2_ = false;
  }
  // Rounded up: rounded down, the last millisecond would be a busy loop.
  const int64_t milliseconds =
      left < 0 ? -1
               : std::min<int64_t>(left / kNanosecondsPerMillisecond +
                                       (left % kNanosecondsPerMillisecond != 0),
                                   std::numeric_limits<int>::max());
  return epoll_wait(epoll_.get(), events, kEventsPerWait,
                    static_cast<int>(milliseconds));
}

void ReactorCore::Dispatch(const epoll_event* events, int count) {
  WakeList wakers;
  for (int i = 0; i < count; ++i) {
    const uint64_t token = events[i].data.u64;
    if (token == kNotifierToken) continue;
    SourceCell& cell = SourceCellAt(static_cast<uint32_t>(token));
    const uint32_t generation = static_cast<uint32_t>(token >> 32);
    const bool delivered =
        cell.Deliver(generation, BitsOf(events[i].events), wakers);
    Count(delivered ? counters_.delivered : counters_.stale_events, 1);
  }
  wakers.WakeAll();
}

IoResult ReactorCore::Register(SourceCell& cell) {
  std::lock_guard lock(mutex_);
  if (!epoll_.IsValid()) return IoResult::ReactorClosed();
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
  event.data.u64 = cell.token();
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, cell.fd, &event) < 0) {
    if (errno != EPERM) return IoResult::Error(errno);
    // A regular file, a directory, /dev/null: it never blocks.
    cell.readiness.Set(cell.readiness.Load().generation(), kAlways);
  } else {
    Link(cell);
    notifier_->LeaveWord();
  }
  // Release: who finds the core set finds the readiness of its descriptor.
  cell.core.store(this, std::memory_order_release);
  return IoResult::Of(0);
}

void ReactorCore::Deregister(SourceCell& cell) {
  std::lock_guard lock(mutex_);
  if (!cell.registered) return;
  Unlink(cell);
  // Not left to close(2): a duplicate of the descriptor, in this process or in
  // a child, would keep the registration alive.
  epoll_event unused = {};
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, cell.fd, &unused);
}

void ReactorCore::Link(SourceCell& cell) {
  cell.registered = true;
  cell.previous = nullptr;
  cell.next = cells_;
  if (cells_ != nullptr) cells_->previous = &cell;
  cells_ = &cell;
  Count(counters_.registered, 1);
  cell_count_.fetch_add(1);  // sequentially consistent: see wake_flag.h
}

void ReactorCore::Unlink(SourceCell& cell) {
  cell.registered = false;
  (cell.previous != nullptr ? cell.previous->next : cells_) = cell.next;
  if (cell.next != nullptr) cell.next->previous = cell.previous;
  cell.previous = cell.next = nullptr;
  Count(counters_.deregistered, 1);
  cell_count_.fetch_sub(1);
}

}  // namespace weft::io::io_internal
