// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/default_timers.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <thread>

#include "weft/task/clock.h"
#include "weft/task/instant.h"
#include "weft/task/parker.h"
#include "weft/timer/timers.h"

namespace weft::timer_internal {
namespace {

struct Service {
  Service() {
    // The thread inherits the mask: signals are for threads of the program.
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    std::thread([this] { Run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }

  void Run() {
    pthread_setname_np(pthread_self(), "weft-timer");
    // The kernel otherwise delays every wake-up by up to 50 us (prctl(2)).
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (;;) timers.Park(Instant::Infinite());
  }

  Parker parker;
  timer::Timers timers{parker, Clock::Real()};
};

}  // namespace

timer::Timers& DefaultTimers() {
  static Service* const service = new Service;
  return service->timers;
}

}  // namespace weft::timer_internal
