// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RwLock: a value that many may read at a time, or one may write.
//
//   RwLock<Routes> routes;
//   ...
//   auto read = co_await routes.Read();
//   Route route = read->Find(path);
//   ...
//   auto write = co_await routes.Write();
//   write->Add(path, handler);
//
// A third kind of guard reads beside readers and may become the writer without
// letting anybody in between, to look first and write only if need be. There is one
// at a time, and others wait for it, so who mostly reads looks with Read() before:
//
//   auto guard = co_await routes.UpgradableRead();
//   if (!guard->Has(path)) {
//     auto write = co_await guard.Upgrade();
//     write->Add(path, handler);
//   }
//
// Fair: who waits gets in in the order of the first polls, readers that are next to
// each other together. Newcomers queue behind whoever waits, so neither readers nor
// writers starve. Hence a task that reads and asks to read again may wait for ever,
// behind a writer that waits for it.
//
// To get in and to leave is one atomic operation each while nobody waits. Readers
// count themselves in one word, so many of them on many cores slow each other down.
//
// What happened before a guard was destroyed happens before the end of the waits
// that had to wait for it.
//
// Thread safety: all methods from any thread, but for GetMutable() and IntoInner();
// a guard belongs to one thread at a time. Constant-initialized if T is.
// Lifetime: outlives its waits and its guards; an owned guard keeps it alive. The
// last one in may destroy it, while those who left before are still returning.
// Dropping: a wait that is dropped leaves the queue. If it had been let in, and
// never learned of that, it is as if its guard was destroyed.
#ifndef WEFT_SYNC_RW_LOCK_H_
#define WEFT_SYNC_RW_LOCK_H_

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/sync/lock_core.h"
#include "weft/sync/lock_guard.h"
#include "weft/sync/lock_word.h"
#include "weft/sync/rw_lock_guard.h"
#include "weft/task/check.h"

namespace weft::sync {

template <class T>
class RwLock {
  using Borrowed = sync_internal::BorrowedCore;
  using Owned = sync_internal::OwnedCore;
  template <class Guard>
  using Future = sync_internal::LockFuture<Guard>;

 public:
  using ReadGuard = sync::ReadGuard<T, Borrowed>;
  using WriteGuard = sync::WriteGuard<T, Borrowed>;
  using UpgradableGuard = sync::UpgradableGuard<T, Borrowed>;
  using OwnedReadGuard = sync::ReadGuard<T, Owned>;
  using OwnedWriteGuard = sync::WriteGuard<T, Owned>;
  using OwnedUpgradableGuard = sync::UpgradableGuard<T, Owned>;

  constexpr RwLock()
    requires std::is_default_constructible_v<T>
  = default;
  template <class U = T>
    requires std::is_constructible_v<T, U&&>
  explicit constexpr RwLock(U&& value) : value_(std::forward<U>(value)) {}
  template <class... Args>
  explicit constexpr RwLock(std::in_place_t, Args&&... args)
      : value_(std::forward<Args>(args)...) {}
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;
  // Requires: nobody waits or is in.
  ~RwLock() { CheckUnlocked(); }

  // Each takes its place in the queue at its first poll.
  Future<ReadGuard> Read() { return Make<ReadGuard>(); }
  Future<WriteGuard> Write() { return Make<WriteGuard>(); }
  Future<UpgradableGuard> UpgradableRead() { return Make<UpgradableGuard>(); }

  // Nothing where there would be a wait.
  std::optional<ReadGuard> TryRead() { return Try<ReadGuard>(); }
  std::optional<WriteGuard> TryWrite() { return Try<WriteGuard>(); }
  std::optional<UpgradableGuard> TryUpgradableRead() {
    return Try<UpgradableGuard>();
  }

  ReadGuard BlockingRead() {
    return Block<ReadGuard>("RwLock::BlockingRead()");
  }
  WriteGuard BlockingWrite() {
    return Block<WriteGuard>("RwLock::BlockingWrite()");
  }
  UpgradableGuard BlockingUpgradableRead() {
    return Block<UpgradableGuard>("RwLock::BlockingUpgradableRead()");
  }

  // The same with guards that keep the lock alive.
  using Shared = std::shared_ptr<RwLock>;
  static Future<OwnedReadGuard> ReadOwned(Shared lock) {
    return MakeOwned<OwnedReadGuard>(std::move(lock));
  }
  static Future<OwnedWriteGuard> WriteOwned(Shared lock) {
    return MakeOwned<OwnedWriteGuard>(std::move(lock));
  }
  static Future<OwnedUpgradableGuard> UpgradableReadOwned(Shared lock) {
    return MakeOwned<OwnedUpgradableGuard>(std::move(lock));
  }
  static std::optional<OwnedReadGuard> TryReadOwned(Shared lock) {
    return TryOwned<OwnedReadGuard>(std::move(lock));
  }
  static std::optional<OwnedWriteGuard> TryWriteOwned(Shared lock) {
    return TryOwned<OwnedWriteGuard>(std::move(lock));
  }
  static std::optional<OwnedUpgradableGuard> TryUpgradableReadOwned(
      Shared lock) {
    return TryOwned<OwnedUpgradableGuard>(std::move(lock));
  }

  static OwnedReadGuard BlockingReadOwned(Shared lock) {
    return BlockOwned<OwnedReadGuard>("RwLock::BlockingReadOwned()",
                                      std::move(lock));
  }
  static OwnedWriteGuard BlockingWriteOwned(Shared lock) {
    return BlockOwned<OwnedWriteGuard>("RwLock::BlockingWriteOwned()",
                                       std::move(lock));
  }
  static OwnedUpgradableGuard BlockingUpgradableReadOwned(Shared lock) {
    return BlockOwned<OwnedUpgradableGuard>(
        "RwLock::BlockingUpgradableReadOwned()", std::move(lock));
  }

  // The value without locking. Requires: nobody else uses this lock now.
  T& GetMutable() {
    CheckUnlocked();
    return value_;
  }
  T IntoInner() && {
    CheckUnlocked();
    return std::move(value_);
  }

 private:
  template <class Guard>
  Future<Guard> Make() {
    return Future<Guard>(&core_, std::addressof(value_));
  }
  template <class Guard>
  std::optional<Guard> Try() {
    return sync_internal::TryLockFor<Guard>(&core_, std::addressof(value_));
  }
  template <class Guard>
  Guard Block(std::string_view caller) {
    return sync_internal::BlockingLockFor<Guard>(caller, &core_,
                                                 std::addressof(value_));
  }
  template <class Guard>
  static Future<Guard> MakeOwned(Shared lock) {
    T* const value = std::addressof(lock->value_);
    return Future<Guard>(CoreOf(std::move(lock)), value);
  }
  template <class Guard>
  static std::optional<Guard> TryOwned(Shared lock) {
    T* const value = std::addressof(lock->value_);
    return sync_internal::TryLockFor<Guard>(CoreOf(std::move(lock)), value);
  }
  template <class Guard>
  static Guard BlockOwned(std::string_view caller, Shared lock) {
    T* const value = std::addressof(lock->value_);
    return sync_internal::BlockingLockFor<Guard>(
        caller, CoreOf(std::move(lock)), value);
  }
  static Owned CoreOf(Shared lock) {
    sync_internal::ExclusionCore* const core = &lock->core_;
    return Owned(std::move(lock), core);
  }

  void CheckUnlocked() const {
    WEFT_CHECK(sync_internal::ExclusionRules::Fits(
                   core_.Load(), sync_internal::ExclusionRules::kWrite),
               "an RwLock is destroyed or opened while somebody is in; let its "
               "guards go first");
  }

  sync_internal::ExclusionCore core_{0, sync_internal::LockOrder::kFifo};
  T value_{};
};

template <class T>
explicit RwLock(T) -> RwLock<T>;

}  // namespace weft::sync

#endif  // WEFT_SYNC_RW_LOCK_H_
