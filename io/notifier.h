// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Notifier: ends a thread's sleep, in epoll or on a word, from any other thread.
//
// An eventfd, registered edge-triggered, and a WakeFlag. The eventfd is written
// at most once per sleep and is not read: each write is an edge of its own,
// whatever the counter is. Only a counter that is full is read once.
//
// Thread safety: as WakeFlag for flag(); the rest from any thread.
// Lifetime: counted. Unparkers own references and may outlive the reactor; the
// eventfd is closed with the last one.
#ifndef WEFT_IO_NOTIFIER_H_
#define WEFT_IO_NOTIFIER_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/wake_flag.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft::io::io_internal {

class Notifier {
 public:
  // With one reference, the caller's. Fails as eventfd(2) does.
  static absl::StatusOr<Notifier*> Create();

  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  WakeFlag& flag() { return flag_; }
  int fd() const { return event_.get(); }

  // Ends the current or the next sleep.
  void Notify();
  // Sleeps on the flag's word, as long as it says so.
  void SleepOnWord(Instant deadline);
  // Ends a sleep on the word, so that the thread looks again where to sleep.
  void LeaveWord();
  // How often Notify() made a system call.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }

  // A waker that calls Notify().
  Waker MakeWaker();
  void Unref();

 private:
  static const WakerVTable kVTable;

  void WriteEvent();
  void WakeWord();

  explicit Notifier(Fd event) : event_(std::move(event)) {}
  ~Notifier() = default;
  void Ref();

  WakeFlag flag_;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint64_t> writes_{0};
  const Fd event_;
};

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_NOTIFIER_H_
