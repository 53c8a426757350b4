// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Reactor: waits for descriptors; a driver for the thread that parks in it.
//
// Sources (io/source.h) bind to the reactor of the environment in which they
// first have to wait, and stay with it. Whoever parks in the reactor wakes the
// tasks whose descriptors have become ready. A runtime gives each of its
// workers one; a thread outside any runtime needs none, since its sources go to
// a service thread.
//
// Backend: epoll, edge-triggered, each descriptor registered once. Timeouts
// have a resolution of nanoseconds (epoll_pwait2), or of milliseconds, rounded
// up, before Linux 5.11. Wakes from other threads are coalesced: at most one
// system call per Park, none while the thread runs.
//
// Thread safety: Park from one thread at a time; the rest from any thread, TryPoll
// while the reactor lives.
// Lifetime: sources and unparkers may outlive the reactor.
// Dropping: closes it: every wait on its sources is resumed and, like each
// later one, gives ReactorClosedStatus().
//
//   auto reactor = io::Reactor::Create();  // a StatusOr of a unique_ptr
//   if (!reactor.ok()) return reactor.status();
//   Environment env = Environment::Current();
//   env.driver = env.reactor = reactor->get();
//   EnvironmentScope scope(env);
//   BlockOn(Serve(listener));   // this thread parks in the reactor
#ifndef WEFT_IO_REACTOR_H_
#define WEFT_IO_REACTOR_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft::io {

namespace io_internal {
class ReactorCore;
}

// What a reactor has done since it was created.
struct ReactorStats {
  uint64_t waits = 0;         // calls into the kernel to wait
  uint64_t events = 0;        // events these returned, wakes of epoll included
  uint64_t delivered = 0;     // of these, that came to their descriptors
  uint64_t stale_events = 0;  // of them, for descriptors closed meanwhile
  uint64_t wake_calls = 0;    // system calls made to end a wait
  uint64_t watched = 0;       // descriptors, now
  uint64_t registered = 0;    // descriptors
  uint64_t deregistered = 0;  // of these
};

class Reactor final : public Driver {
 public:
  // A reactor of its own, or a status that names the call that failed: EMFILE
  // and ENFILE where no descriptors are left (it needs two), ENOMEM.
  static absl::StatusOr<std::unique_ptr<Reactor>> Create();

  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  // Requires: no thread parks in it.
  ~Reactor() override;

  // Does what destruction does to sources, while the object stays: for owners
  // that others may still point to. Requires: nobody parks, now or later.
  void Close();

  // Waits for descriptors, an unpark or `deadline`, on the real monotonic
  // clock, and wakes the tasks whose descriptors are ready, up to 256 of them.
  void Park(Instant deadline) override;
  bool TryPoll() override;
  Waker Unparker() override;
  uint64_t HandledEvents() const override { return stats().events; }

  // From any thread; values may be a little behind.
  ReactorStats stats() const;

  // What sources bind to. Internal.
  io_internal::ReactorCore& core() const { return *core_; }

 private:
  explicit Reactor(io_internal::ReactorCore* core) : core_(core) {}

  io_internal::ReactorCore* const core_;
};

}  // namespace weft::io

#endif  // WEFT_IO_REACTOR_H_
