// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Driver: what a thread waits in when it has nothing to poll.
//
// A driver sleeps until something happens and, for whatever happened, wakes the
// wakers that wait for it: a Parker only sleeps, a reactor waits for
// descriptors, a timer wheel wraps either and adds deadlines. Executors and
// BlockOn park in the driver of their thread's environment, so that work and
// I/O share one wait.
//
// Unparking is sticky: it makes the current Park return, else the next one.
//
// Thread safety: Park from one thread at a time; TryPoll and unparkers from any
// thread.
#ifndef WEFT_TASK_DRIVER_H_
#define WEFT_TASK_DRIVER_H_

#include <cstdint>

#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft {

class Driver {
 public:
  virtual ~Driver() = default;

  // Waits until unparked, until something was handled, or until `deadline`
  // (Instant::Past(): handles what is ready and does not wait). May return
  // early for no reason. Calls wakers, on this thread, with no lock held.
  //
  // Returning consumes a pending unpark, whatever the deadline was; a caller
  // who must know keeps a flag of its own and looks at it after each Park.
  virtual void Park(Instant deadline) = 0;

  // A waker that unparks this driver. Counted: it may outlive the driver, and
  // then does nothing. All unparkers of one driver WillWake each other.
  virtual Waker Unparker() = 0;

  // Handles what is ready, as Park(Instant::Past()) does, for a thread that is too
  // busy to come here; wakers are called on the calling thread, with no lock
  // held. Any thread. Leaves a pending unpark to Park(). False, without a wait,
  // while another thread is inside; and always in a driver that only sleeps or
  // leaves this out, whose events then wait for the thread that parks.
  virtual bool TryPoll() { return false; }

  // How many events Park has handled since this was made, unparks perhaps
  // included: if it has not grown, Park has called no waker. Zero for drivers
  // that only sleep. Called by the thread that parks; for those who must not
  // take a wait in which something happened for an idle one.
  virtual uint64_t HandledEvents() const { return 0; }

  // The calling thread's own Parker: the driver of threads that were given no
  // other. Valid until the thread ends.
  static Driver& OfThread();
};

}  // namespace weft

#endif  // WEFT_TASK_DRIVER_H_
