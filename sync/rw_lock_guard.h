// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The guards of an RwLock (sync/rw_lock.h, where they have shorter names).
//
//   WriteGuard --Downgrade--> ReadGuard
//   WriteGuard --DowngradeToUpgradable--> UpgradableGuard --Downgrade--> ReadGuard
//   UpgradableGuard --Upgrade--> WriteGuard
//
// Nobody else gets in between: what was seen or written before is still so after.
// Each can be mapped to a part of the value, and then is only a lock on that.
//
// Thread safety: one thread at a time.
// Lifetime: outlived by the lock, but for owned guards, which keep it alive.
// Dropping: an Upgrade() that is dropped leaves its upgradable guard as it was.
#ifndef WEFT_SYNC_RW_LOCK_GUARD_H_
#define WEFT_SYNC_RW_LOCK_GUARD_H_

#include <memory>
#include <optional>
#include <utility>

#include "weft/sync/lock_core.h"
#include "weft/sync/lock_guard.h"
#include "weft/sync/lock_word.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

template <class T, class Holder>
class UpgradeFuture;
template <class T, class Holder>
class WriteGuard;

// Guards of a part of the value.
template <class U, class Holder>
class [[nodiscard]] MappedReadGuard
    : public sync_internal::LockGuard<U, sync_internal::ReadMode, Holder> {
  using Base = sync_internal::LockGuard<U, sync_internal::ReadMode, Holder>;

 public:
  using Base::Base;

  template <class Fn>
  static auto Map(MappedReadGuard guard, Fn fn) {
    return Base::template MapTo<sync::MappedReadGuard>(std::move(guard), fn);
  }
};

template <class U, class Holder>
class [[nodiscard]] MappedWriteGuard
    : public sync_internal::LockGuard<U, sync_internal::WriteMode, Holder> {
  using Base = sync_internal::LockGuard<U, sync_internal::WriteMode, Holder>;

 public:
  using Base::Base;

  template <class Fn>
  static auto Map(MappedWriteGuard guard, Fn fn) {
    return Base::template MapTo<sync::MappedWriteGuard>(std::move(guard), fn);
  }
};

// One of several readers.
template <class T, class Holder>
class [[nodiscard]] ReadGuard
    : public sync_internal::LockGuard<const T, sync_internal::ReadMode,
                                      Holder> {
  using Base =
      sync_internal::LockGuard<const T, sync_internal::ReadMode, Holder>;

 public:
  using Base::Base;

  // The lock goes on with a guard of fn(*guard), a reference to a part of the value.
  template <class Fn>
  static auto Map(ReadGuard guard, Fn fn) {
    return Base::template MapTo<MappedReadGuard>(std::move(guard), fn);
  }
};

// A reader beside others, but the only one that may become the writer.
template <class T, class Holder>
class [[nodiscard]] UpgradableGuard
    : public sync_internal::LockGuard<const T, sync_internal::UpgradableMode,
                                      Holder> {
  using Base =
      sync_internal::LockGuard<const T, sync_internal::UpgradableMode, Holder>;
  using Rules = sync_internal::ExclusionRules;

 public:
  using Base::Base;

  // Ready with a WriteGuard once the other readers are gone; then this guard is
  // moved from. Goes before the queue, and nobody comes in meanwhile. This guard is
  // not moved until it is ready or dropped.
  UpgradeFuture<T, Holder> Upgrade();
  WriteGuard<T, Holder> BlockingUpgrade();
  // Nothing, and this guard as it was, if there are other readers.
  std::optional<WriteGuard<T, Holder>> TryUpgrade() {
    if (!this->core()->TryTakeFirst(Rules::kUpgrade)) return std::nullopt;
    return BecomeWriter();
  }

  ReadGuard<T, Holder> Downgrade() && {
    this->core()->Give({0, Rules::kUpgradable - Rules::kReader});
    const T* const value = this->value();
    return ReadGuard<T, Holder>(this->TakeCore(), value);
  }

 private:
  friend UpgradeFuture<T, Holder>;

  // The lock has been upgraded.
  WriteGuard<T, Holder> BecomeWriter() {
    // The lock's own value is not const.
    T* const value = const_cast<T*>(this->value());
    return WriteGuard<T, Holder>(this->TakeCore(), value);
  }
};

// The only one who is in.
template <class T, class Holder>
class [[nodiscard]] WriteGuard
    : public sync_internal::LockGuard<T, sync_internal::WriteMode, Holder> {
  using Base = sync_internal::LockGuard<T, sync_internal::WriteMode, Holder>;
  using Rules = sync_internal::ExclusionRules;

 public:
  using Base::Base;

  // The lock goes on with a guard of fn(*guard), a reference to a part of the value.
  template <class Fn>
  static auto Map(WriteGuard guard, Fn fn) {
    return Base::template MapTo<MappedWriteGuard>(std::move(guard), fn);
  }

  // Lets readers in, those at the front of the queue first.
  ReadGuard<T, Holder> Downgrade() && {
    this->core()->Give({0, Rules::kWriter - Rules::kReader});
    const T* const value = this->value();
    return ReadGuard<T, Holder>(this->TakeCore(), value);
  }
  UpgradableGuard<T, Holder> DowngradeToUpgradable() && {
    this->core()->Give({0, Rules::kWriter - Rules::kUpgradable});
    const T* const value = this->value();
    return UpgradableGuard<T, Holder>(this->TakeCore(), value);
  }
};

template <class T, class Holder>
class [[nodiscard]] UpgradeFuture {
 public:
  using Output = WriteGuard<T, Holder>;

  UpgradeFuture(UpgradeFuture&&) = default;
  UpgradeFuture& operator=(UpgradeFuture&&) = delete;
  ~UpgradeFuture() {
    if (waiter_.polled) core_->Drop(waiter_);
  }

  Polled<Output> Poll(Context& cx) {
    WEFT_CHECK(
        guard_.core() != nullptr,
        "a guard was moved while its Upgrade() waited; keep it in place");
    if (core_->Poll(waiter_, cx) ==
        sync_internal::ExclusionCore::Got::kNotYet) {
      return kPending;
    }
    return guard_.BecomeWriter();
  }

 private:
  friend UpgradableGuard<T, Holder>;
  explicit UpgradeFuture(UpgradableGuard<T, Holder>& guard)
      : guard_(guard), core_(std::to_address(guard.core())) {}

  UpgradableGuard<T, Holder>& guard_;
  sync_internal::ExclusionCore* const core_;
  sync_internal::ExclusionCore::Waiter waiter_{
      sync_internal::ExclusionRules::kUpgrade, /*goes_first=*/true};
};

template <class T, class Holder>
UpgradeFuture<T, Holder> UpgradableGuard<T, Holder>::Upgrade() {
  return UpgradeFuture<T, Holder>(*this);
}
template <class T, class Holder>
WriteGuard<T, Holder> UpgradableGuard<T, Holder>::BlockingUpgrade() {
  return task_internal::BlockFor("UpgradableGuard::BlockingUpgrade()",
                                 Upgrade());
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_RW_LOCK_GUARD_H_
