// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/dump_on_signal.h"

#include <semaphore.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/executor/thread.h"
#include "weft/task/status.h"

namespace weft {
namespace {

// A semaphore per signal, never destroyed: a handler may be late.
struct Bell {
  sem_t rings;
  bool made = false;
  bool in_use = false;
};
constinit std::mutex mutex;  // guards the bells' flags
std::array<Bell, NSIG> bells;

void OnSignal(int signal) {
  const int saved_errno = errno;
  sem_post(&bells[static_cast<size_t>(signal)].rings);
  errno = saved_errno;
}

void WriteToStandardError(const std::string& report) {
  std::fwrite(report.data(), 1, report.size(), stderr);
}

}  // namespace

// The thread, and its hold on the signal.
class DumpOnSignal::Listener {
 public:
  Listener(int signal, std::function<std::string()> make,
           std::function<void(const std::string&)> write)
      : signal_(signal), make_(std::move(make)), write_(std::move(write)) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (bell_ == nullptr) return;
    if (handles_) sigaction(signal_, &before_, nullptr);
    stop_.store(true);
    sem_post(&bell_->rings);
    thread_.Join();
    const std::lock_guard lock(mutex);
    bell_->in_use = false;
  }

  absl::Status Start() {
    if (signal_ <= 0 || signal_ >= NSIG) {
      return absl::InvalidArgumentError(
          absl::StrCat(signal_, " is not a signal"));
    }
    if (absl::Status status = TakeBell(); !status.ok()) return status;
    absl::StatusOr<executor_internal::Thread> thread =
        executor_internal::Thread::Start("weft-dump", 0, [this] { Listen(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    struct sigaction action = {};
    action.sa_handler = &OnSignal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    if (sigaction(signal_, &action, &before_) != 0) {
      return ErrnoStatus(errno, absl::StrCat("sigaction of signal ", signal_));
    }
    handles_ = true;
    return absl::OkStatus();
  }

 private:
  absl::Status TakeBell() {
    const std::lock_guard lock(mutex);
    Bell& bell = bells[static_cast<size_t>(signal_)];
    if (bell.in_use) {
      return absl::FailedPreconditionError(
          absl::StrCat("there is a DumpOnSignal for signal ", signal_));
    }
    if (!std::exchange(bell.made, true)) sem_init(&bell.rings, 0, 0);
    bell.in_use = true;
    bell_ = &bell;
    // What has rung before was for another one.
    while (sem_trywait(&bell.rings) == 0) {
    }
    return absl::OkStatus();
  }

  void Listen() {
    for (;;) {
      while (sem_wait(&bell_->rings) != 0) {
      }
      while (sem_trywait(&bell_->rings) == 0) {
      }
      if (stop_.load()) return;
      write_(make_());
    }
  }

  const int signal_;
  const std::function<std::string()> make_;
  const std::function<void(const std::string&)> write_;
  Bell* bell_ = nullptr;
  struct sigaction before_ = {};
  bool handles_ = false;
  std::atomic<bool> stop_{false};
  executor_internal::Thread thread_;
};

absl::StatusOr<DumpOnSignal> DumpOnSignal::Start(
    int signal, std::function<std::string()> make,
    std::function<void(const std::string&)> write) {
  if (write == nullptr) write = &WriteToStandardError;
  auto listener =
      std::make_unique<Listener>(signal, std::move(make), std::move(write));
  if (absl::Status status = listener->Start(); !status.ok()) return status;
  return DumpOnSignal(std::move(listener));
}

DumpOnSignal::DumpOnSignal(std::unique_ptr<Listener> listener)
    : listener_(std::move(listener)) {}
DumpOnSignal::DumpOnSignal(DumpOnSignal&& other) noexcept = default;
DumpOnSignal& DumpOnSignal::operator=(DumpOnSignal&& other) noexcept = default;
DumpOnSignal::~DumpOnSignal() = default;

}  // namespace weft
