// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/poll_capture.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "weft/task/await_trace.h"
#include "weft/task/instant.h"
#include "weft/task/running.h"
#include "weft/task/source_location.h"
#include "weft/task/status.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"

namespace weft::executor_internal {
namespace {

enum State : uint64_t { kIdle, kAsked, kWriting, kWritten };

// In one word, so that a handler that comes late takes no other thread's question for
// its own.
uint64_t Word(pid_t thread, State state) {
  return (static_cast<uint64_t>(thread) << 2) | state;
}

// What a handler fills. Between `asked` and `written` it is the handler's.
struct Note {
  std::atomic<uint64_t> word{kIdle};
  void (*beside)(void*) = nullptr;
  void* argument = nullptr;

  TaskId task;
  std::array<char, 64> name{};
  size_t name_size = 0;
  SourceLocation spawned_at;
  AwaitTrace awaits;
  std::array<void*, 48> stack{};
  size_t stack_size = 0;
};

constinit std::mutex mutex;  // one capture at a time; guards the next one
int used_signal = 0;
Note note;

void WriteTask() {
  const task_internal::Running& running = task_internal::ThisThreadRuns();
  if (running.task == nullptr || !running.lives) return;
  note.task = running.task->id;
  const std::string_view name = running.task->name();
  note.name_size = std::min(name.size(), note.name.size());
  std::copy_n(name.begin(), note.name_size, note.name.begin());
  note.spawned_at = running.task->spawned_at;
  // Else its future is being destroyed.
  if (!running.polls) return;
  const auto* task =
      static_cast<const task_internal::TaskHeader*>(running.task);
  task->vtable->trace(task, note.awaits);
}

void OnSignal(int) {
  const int saved_errno = errno;
  const pid_t thread = gettid();
  uint64_t asked = Word(thread, kAsked);
  if (note.word.compare_exchange_strong(asked, Word(thread, kWriting))) {
    WriteTask();
    note.stack_size = static_cast<size_t>(
        backtrace(note.stack.data(), static_cast<int>(note.stack.size())));
    if (note.beside != nullptr) note.beside(note.argument);
    note.word.store(Word(thread, kWritten));
  }
  errno = saved_errno;
}

void Clear() {
  note.task = TaskId();
  note.name_size = 0;
  note.spawned_at = SourceLocation();
  note.awaits = AwaitTrace();
  note.stack_size = 0;
}

// True when the handler has written. The handler is short: once it has begun, it is
// waited for.
bool AwaitWritten(pid_t thread, Instant deadline) {
  while (note.word.load() != Word(thread, kWritten)) {
    uint64_t asked = Word(thread, kAsked);
    if (Instant::Now() >= deadline &&
        note.word.compare_exchange_strong(asked, kIdle)) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

pid_t ThisThreadId() {
  static thread_local const pid_t id = gettid();
  return id;
}

absl::Status PollCapture::UseSignal(int signal) {
  const std::lock_guard lock(mutex);
  if (signal == 0) signal = used_signal != 0 ? used_signal : SIGURG;
  if (used_signal == signal) return absl::OkStatus();
  if (used_signal != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "signal ", used_signal, " captures polls in this process already, so ",
        signal, " cannot"));
  }
  struct sigaction before = {};
  if (sigaction(signal, nullptr, &before) != 0) {
    return ErrnoStatus(errno, absl::StrCat("sigaction of signal ", signal));
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 ||
      (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "signal ", signal, " has a handler already: choose another one"));
  }
  // The first call loads a library, which a handler must not.
  void* unused[1];
  static_cast<void>(backtrace(unused, 1));
  struct sigaction action = {};
  action.sa_handler = &OnSignal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(signal, &action, nullptr) != 0) {
    return ErrnoStatus(errno, absl::StrCat("sigaction of signal ", signal));
  }
  used_signal = signal;
  return absl::OkStatus();
}

bool PollCapture::Take(pid_t thread, Instant deadline, PollCapture& capture,
                       void (*beside)(void*), void* argument) {
  const std::lock_guard lock(mutex);
  if (used_signal == 0) return false;
  Clear();
  note.beside = beside;
  note.argument = argument;
  note.word.store(Word(thread, kAsked));
  const bool sent = syscall(SYS_tgkill, getpid(), thread, used_signal) == 0;
  const bool written = AwaitWritten(thread, sent ? deadline : Instant::Past());
  if (written) {
    capture.task = note.task;
    capture.name = std::string(note.name.data(), note.name_size);
    capture.spawned_at = note.spawned_at;
    capture.awaits = note.awaits;
    capture.stack = note.stack;
    capture.stack_size = note.stack_size;
  }
  note.word.store(kIdle);
  return written;
}

TaskInfo PollCapture::Info() const {
  TaskInfo info;
  info.id = task;
  info.name = name;
  info.spawned_at = spawned_at;
  info.state = TaskInfo::State::kRunning;
  info.awaits = awaits.Copy();
  return info;
}

}  // namespace weft::executor_internal
