// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/default_reactor.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "weft/io/reactor.h"
#include "weft/task/instant.h"
#include "weft/task/status.h"

namespace weft::io::io_internal {
namespace {

void* Serve(void* reactor) {
  pthread_setname_np(pthread_self(), "weft-io");
  for (;;) static_cast<Reactor*>(reactor)->Park(Instant::Infinite());
}

// 0, or an errno value. Not std::thread, which reports errors by exceptions.
int StartServing(Reactor* reactor) {
  // Signals belong to the threads of the program.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, Serve, reactor);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error == 0) pthread_detach(thread);
  return error;
}

struct Service {
  std::atomic<Reactor*> reactor{nullptr};
  std::mutex mutex;  // of whoever starts it
};

Service& TheService() {
  static Service& service = *new Service;
  return service;
}

}  // namespace

absl::StatusOr<Reactor*> DefaultReactor() {
  Service& service = TheService();
  // Acquire: pairs with the store below.
  Reactor* ready = service.reactor.load(std::memory_order_acquire);
  if (ready != nullptr) return ready;
  std::lock_guard lock(service.mutex);
  ready = service.reactor.load(std::memory_order_relaxed);
  if (ready != nullptr) return ready;
  absl::StatusOr<std::unique_ptr<Reactor>> reactor = Reactor::Create();
  if (!reactor.ok()) return reactor.status();
  if (const int error = StartServing(reactor->get()); error != 0) {
    return ErrnoStatus(error, "pthread_create of the service thread for I/O");
  }
  ready = reactor->release();
  // Release: publishes the reactor.
  service.reactor.store(ready, std::memory_order_release);
  return ready;
}

}  // namespace weft::io::io_internal
