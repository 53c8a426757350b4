// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The handler may run at any instruction of any thread, so it takes
// no lock: it walks a list of records that only grows. Records are reused,
// never freed. A record in use has the set of its signals in `interest`.
//
//   handler:     users += 1; if (interest has it) note it, write; users -= 1
//   destructor:  interest = 0; wait until users is 0; let the descriptor go
//
// All four are sequentially consistent: either the handler sees the empty set,
// or the destructor sees the user. A handler that interrupts the destructor's
// own thread ends before it goes on, so the wait ends.
//
// What was there before is kept, per signal, in an object that the handler may
// read for ever. If somebody installed a handler on top of ours which calls
// ours, and we are installed once more on top of that, the two would call each
// other without end; so a thread that is passing a signal on does not pass the
// same one on again.
#include "weft/process/signal_registry.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/task/status.h"

namespace weft::process::process_internal {

struct ListenerRecord {
  std::atomic<uint64_t> interest{0};
  std::atomic<uint64_t> noted{0};
  std::atomic<uint32_t> users{0};
  std::atomic<int> event_fd{-1};
  ListenerRecord* next = nullptr;  // constant once it is on the list
  ListenerRecord* next_free = nullptr;
};

namespace {

constexpr int kSignals = 64;

constexpr uint64_t BitOf(int number) { return uint64_t{1} << (number - 1); }

// What the handler reads; constant-initialized, never destroyed.
std::atomic<ListenerRecord*> all_records{nullptr};
std::atomic<const struct sigaction*> earlier_actions[kSignals + 1] = {};

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  std::atomic<void*>::is_always_lock_free,
              "a signal handler uses them");

// The signals that this thread is passing on. Initial-exec, since the first use
// of another kind of thread-local may allocate.
[[gnu::tls_model("initial-exec")]] thread_local uint64_t passing_on = 0;

void PassOn(int number, siginfo_t* info, void* context) {
  // Acquire: pairs with the store in Install.
  const struct sigaction* earlier =
      earlier_actions[number].load(std::memory_order_acquire);
  if (earlier == nullptr || (passing_on & BitOf(number)) != 0) return;
  passing_on |= BitOf(number);
  if ((earlier->sa_flags & SA_SIGINFO) != 0) {
    earlier->sa_sigaction(number, info, context);
  } else if (earlier->sa_handler != SIG_DFL && earlier->sa_handler != SIG_IGN) {
    earlier->sa_handler(number);
  }
  passing_on &= ~BitOf(number);
}

void OnSignal(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  // Acquire: pairs with the push in Allocate.
  for (ListenerRecord* record = all_records.load(std::memory_order_acquire);
       record != nullptr; record = record->next) {
    record->users.fetch_add(1);
    if ((record->interest.load() & BitOf(number)) != 0 &&
        (record->noted.fetch_or(BitOf(number)) & BitOf(number)) == 0) {
      const uint64_t one = 1;
      static_cast<void>(!write(record->event_fd.load(), &one, sizeof(one)));
    }
    record->users.fetch_sub(1);
  }
  PassOn(number, info, context);
  errno = saved_errno;
}

bool SameAction(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_flags == b.sa_flags && a.sa_sigaction == b.sa_sigaction;
}

// Who listens, and what to put back. Under `mutex`; not used by the handler.
class Registry {
 public:
  static Registry& Get() {
    static Registry& registry = *new Registry;
    return registry;
  }

  absl::StatusOr<ListenerRecord*> Add(uint64_t interest, int event_fd) {
    std::lock_guard lock(mutex_);
    ListenerRecord* record = Allocate();
    record->event_fd.store(event_fd);
    record->noted.store(0);
    record->interest.store(interest);
    uint64_t installed = 0;
    for (uint64_t rest = interest; rest != 0; rest &= rest - 1) {
      const int number = std::countr_zero(rest) + 1;
      if (Install(number)) {
        installed |= BitOf(number);
        continue;
      }
      const int error = errno;
      Remove(record, installed);
      return ErrnoStatus(error, absl::StrCat("sigaction(", number, ")"));
    }
    return record;
  }

  void Remove(ListenerRecord* record) {
    std::lock_guard lock(mutex_);
    Remove(record, record->interest.load());
  }

 private:
  struct Hook {
    int listeners = 0;
    // Every action that was found, since the handler may still read it.
    std::vector<std::unique_ptr<struct sigaction>> earlier;
  };

  ListenerRecord* Allocate() {
    if (free_ != nullptr) return std::exchange(free_, free_->next_free);
    auto* record = new ListenerRecord;
    record->next = all_records.load(std::memory_order_relaxed);
    // Release: publishes `next`. Relaxed above: stores are under the mutex.
    all_records.store(record, std::memory_order_release);
    return record;
  }

  void Remove(ListenerRecord* record, uint64_t installed) {
    record->interest.store(0);
    while (record->users.load() != 0) sched_yield();
    for (uint64_t rest = installed; rest != 0; rest &= rest - 1) {
      Uninstall(std::countr_zero(rest) + 1);
    }
    record->next_free = std::exchange(free_, record);
  }

  // False, with errno, if the system refuses.
  bool Install(int number) {
    Hook& hook = hooks_[number];
    if (hook.listeners != 0) {
      ++hook.listeners;
      return true;
    }
    struct sigaction current = {};
    if (sigaction(number, nullptr, &current) < 0) return false;
    if (!IsOurs(current)) {
      SetEarlier(number, current);
      struct sigaction ours = {};
      ours.sa_sigaction = &OnSignal;
      ours.sa_flags =
          SA_SIGINFO | SA_RESTART | SA_ONSTACK | ChildFlags(current);
      if (sigaction(number, &ours, &current) < 0) return false;
      // Somebody may have changed it in between.
      SetEarlier(number, current);
    }
    ++hook.listeners;
    return true;
  }

  void Uninstall(int number) {
    Hook& hook = hooks_[number];
    if (--hook.listeners != 0) return;
    struct sigaction current = {};
    // Not ours if somebody came on top: left to them; they may call us still.
    if (sigaction(number, nullptr, &current) < 0 || !IsOurs(current)) return;
    sigaction(number, hook.earlier.back().get(), nullptr);
  }

  static bool IsOurs(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 &&
           action.sa_sigaction == &OnSignal;
  }

  // How the earlier action wanted the kernel to treat children; to ignore
  // SIGCHLD also means to leave no zombies.
  static int ChildFlags(const struct sigaction& earlier) {
    const bool ignored =
        (earlier.sa_flags & SA_SIGINFO) == 0 && earlier.sa_handler == SIG_IGN;
    return (earlier.sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT)) |
           (ignored ? SA_NOCLDWAIT : 0);
  }

  void SetEarlier(int number, const struct sigaction& action) {
    std::vector<std::unique_ptr<struct sigaction>>& earlier =
        hooks_[number].earlier;
    // The last one is what was put back, so in a program that changes nothing
    // there is one for ever.
    if (earlier.empty() || !SameAction(*earlier.back(), action)) {
      earlier.push_back(std::make_unique<struct sigaction>(action));
    }
    // Release: publishes the action to the handler.
    earlier_actions[number].store(earlier.back().get(),
                                  std::memory_order_release);
  }

  std::mutex mutex_;
  std::array<Hook, kSignals + 1> hooks_;
  ListenerRecord* free_ = nullptr;
};

absl::Status CheckNumber(int number) {
  if (number < 1 || number > kSignals) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no signal ", number));
  }
  switch (number) {
    case SIGKILL:
    case SIGSTOP:
      return absl::InvalidArgumentError(
          absl::StrCat("signal ", number, " cannot be listened to"));
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
      return absl::InvalidArgumentError(absl::StrCat(
          "signal ", number, " stands for a fault and cannot be awaited"));
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<SignalListener> SignalListener::Create(
    std::span<const int> numbers, int event_fd) {
  uint64_t interest = 0;
  for (int number : numbers) {
    absl::Status status = CheckNumber(number);
    if (!status.ok()) return status;
    interest |= BitOf(number);
  }
  absl::StatusOr<ListenerRecord*> record =
      Registry::Get().Add(interest, event_fd);
  if (!record.ok()) return record.status();
  return SignalListener(*record);
}

SignalListener::~SignalListener() {
  if (record_ != nullptr) Registry::Get().Remove(record_);
}

std::optional<int> SignalListener::Take() {
  const uint64_t noted = record_->noted.load();
  if (noted == 0) return std::nullopt;
  const int number = std::countr_zero(noted) + 1;
  record_->noted.fetch_and(~BitOf(number));
  return number;
}

}  // namespace weft::process::process_internal
