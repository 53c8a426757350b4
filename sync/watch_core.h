// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WatchCore: what the ends of a watch share, whatever the type of its values.
// Internal; sync/watch.h is the watch.
//
// The value is an immutable object that readers share, so that the mutex guards
// the change of a pointer, and no code of the value's type runs under it. Beside
// it is one word, written under the mutex and read anywhere:
//
//   kClosed  All senders are gone.
//   1..      The version: how many values there have been.
//
// Thread safety: all methods from any thread.
// Lifetime: shared by the ends and the futures of senders.
#ifndef WEFT_SYNC_WATCH_CORE_H_
#define WEFT_SYNC_WATCH_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"

namespace weft::sync_internal {

class WatchCore {
 public:
  using Value = std::shared_ptr<const void>;

  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kVersion = 2;
  // The version of a receiver that has seen no value.
  static constexpr uint64_t kNoVersion = kClosed;

  // Has one sender and one receiver.
  explicit WatchCore(Value value) : value_(std::move(value)) {}
  WatchCore(const WatchCore&) = delete;
  WatchCore& operator=(const WatchCore&) = delete;

  uint64_t word() const {
    // Acquire: what was done before the value that this tells of.
    return word_.load(std::memory_order_acquire);
  }
  uint64_t version() const { return word() & ~kClosed; }
  // The value, and in `*word` the word that goes with it.
  Value Get(uint64_t* word = nullptr) const;

  // Exchanges the value for `*value` and releases all who wait for that. False,
  // with no effect, if `expected` is not null and not the value there is.
  bool Exchange(Value* value, const void* expected = nullptr);
  // The same, if somebody receives.
  bool ExchangeIfReceived(Value* value);

  // True once the version is not `seen`, or the watch is closed.
  bool PollChange(WaitNode& node, uint64_t seen, Context& cx);
  void DropChangeWait(WaitNode& node);

  // True once nobody receives.
  bool PollUnwatched(WaitNode& node, Context& cx);
  void DropUnwatchedWait(WaitNode& node);

  void AddSender();
  // False if the watch is closed.
  bool TryAddSender();
  void DropSender();
  void AddReceiver();
  void DropReceiver();
  size_t senders() const;
  size_t receivers() const;

 private:
  // As Exchange(), if condition(), which is called under the mutex.
  template <class Condition>
  bool ExchangeIf(Condition condition, Value* value);

  std::atomic<uint64_t> word_{0};

  mutable SmallMutex mutex_;
  // Guarded by `mutex_`, as all that follows.
  Value value_;
  size_t senders_ = 1;
  size_t receivers_ = 1;
  WaitQueue change_waiters_;
  WaitQueue unwatched_waiters_;
};

// One receiver: the core, and what it has seen.
class WatchCursor {
 public:
  WatchCursor(std::shared_ptr<WatchCore> core, uint64_t seen)
      : core_(std::move(core)), seen_(seen) {}
  WatchCursor(const WatchCursor& other)
      : core_(other.core_), seen_(other.seen_) {
    if (core_ != nullptr) core_->AddReceiver();
  }
  WatchCursor(WatchCursor&&) noexcept = default;
  WatchCursor& operator=(WatchCursor other) noexcept {
    std::swap(core_, other.core_);
    std::swap(seen_, other.seen_);
    return *this;
  }
  ~WatchCursor() {
    if (core_ != nullptr) core_->DropReceiver();
  }

  WatchCore& core() const {
    WEFT_CHECK(core_ != nullptr, "this end of a watch was moved from");
    return *core_;
  }
  uint64_t seen() const { return seen_; }
  void set_seen(uint64_t version) { seen_ = version; }

  // Counts the latest value as seen. False if it had been.
  bool SeeLatest() {
    const uint64_t version = core().version();
    return std::exchange(seen_, version) != version;
  }
  // The same, and returns that value, or null if it had been seen.
  WatchCore::Value TakeLatest();

 private:
  std::shared_ptr<WatchCore> core_;
  uint64_t seen_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_WATCH_CORE_H_
