// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DefaultTimers: for sleeps where nobody offers Timers: on bare threads and in
// foreign executors. Internal.
//
// A thread of its own ("weft-timer"), started at the first call and never
// ended, waits in them on the real clock; it blocks all signals. It runs
// nothing but wakers.
//
// Thread safety: any thread.
#ifndef WEFT_TIMER_DEFAULT_TIMERS_H_
#define WEFT_TIMER_DEFAULT_TIMERS_H_

#include "weft/timer/timers.h"

namespace weft::timer_internal {

// Lives forever.
timer::Timers& DefaultTimers();

}  // namespace weft::timer_internal

#endif  // WEFT_TIMER_DEFAULT_TIMERS_H_
