// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReactorCore: an epoll instance, its notifier, and the cells it watches.
// Internal; see io/reactor.h and docs/design/reactor.md.
//
// Thread safety: Park from one thread at a time, the rest from any thread.
// Lifetime: a core comes from a pool and goes back to it, never to the
// allocator, so a cell may name a core whose reactor is gone. Close() removes
// every cell from it first.
#ifndef WEFT_IO_REACTOR_CORE_H_
#define WEFT_IO_REACTOR_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/notifier.h"
#include "weft/io/source_cell.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

struct epoll_event;  // sys/epoll.h

namespace weft::io::io_internal {

// Counted since the reactor was created; each may be a little behind.
struct ReactorCounters {
  std::atomic<uint64_t> waits{0};         // calls of epoll_pwait2, futex
  std::atomic<uint64_t> events{0};        // events they returned
  std::atomic<uint64_t> stale_events{0};  // of these, for descriptors then gone
  std::atomic<uint64_t> delivered{0};     // of these, that came to theirs
  // Written under the core's mutex.
  std::atomic<uint64_t> registered{0};
  std::atomic<uint64_t> deregistered{0};
};

class ReactorCore {
 public:
  // An open core. Fails as epoll_create1(2), eventfd(2) and epoll_ctl(2) do.
  static absl::StatusOr<ReactorCore*> Open();
  // Wakes every cell, which then says that its reactor is closed. Requires:
  // nobody parks, now or later. May be called again.
  void Close();
  // Closes, and gives the core back.
  void Release();

  // See Driver.
  void Park(Instant deadline);
  bool TryPoll();
  Waker Unparker() { return notifier_->MakeWaker(); }

  // Starts watching `cell`. Requires: its mutex and a use are held, and it has
  // no core yet.
  IoResult Register(SourceCell& cell);
  // Stops watching `cell`, if it still is watched. Its descriptor is open.
  void Deregister(SourceCell& cell);

  const ReactorCounters& counters() const { return counters_; }
  const Notifier& notifier() const { return *notifier_; }
  // How many descriptors it watches.
  size_t watched() const {
    return cell_count_.load(std::memory_order_relaxed);  // relaxed: a report
  }

  // From now on waits with a resolution of a millisecond, as on a kernel
  // without epoll_pwait2. For tests.
  void ForceMillisecondWait() { has_pwait2_ = false; }

 private:
  struct Pool;

  ReactorCore() = default;
  // Requires: in_use_ is the caller's.
  int Wait(epoll_event* events, Instant deadline);
  int WaitInKernel(epoll_event* events, Instant deadline);
  void Dispatch(const epoll_event* events, int count);
  bool WatchesNothing() const;
  void ParkOnWord(Instant deadline);
  // Requires: mutex_ is held.
  void Link(SourceCell& cell);
  void Unlink(SourceCell& cell);

  // Under mutex_. `epoll_` may be read by a thread that waits without it.
  std::mutex mutex_;
  Fd epoll_;
  SourceCell* cells_ = nullptr;
  std::atomic<size_t> cell_count_{0};  // written under it, read by anybody

  // Constant while open.
  Notifier* notifier_ = nullptr;

  // A thread is in the kernel to wait, or to look; what follows is its.
  std::atomic<bool> in_use_{false};
  bool has_pwait2_ = true;
  ReactorCounters counters_;

  ReactorCore* next_free_ = nullptr;  // under the pool's mutex
};

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_REACTOR_CORE_H_
