// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OnceCell: a value that is made once, by whoever wants it first.
//
//   constinit OnceCell<Pool> pool;
//   ...
//   Pool& p = co_await pool.GetOrInit(&ConnectAll);   // Task<Pool> ConnectAll();
//   auto q = co_await pool.GetOrTryInit(&TryConnect); // Task<StatusOr<Pool>>
//   if (!q.ok()) co_return q.status();                // else Pool& is **q
//
// One initializer runs at a time, in the task or thread that asked; the others
// wait. If it fails, throws, or is dropped half-way, its turn is over, and the next
// one in line runs its own. Once there is a value, to get it is one load.
//
// An initializer must not ask for the value that it makes: it would wait for
// itself.
//
// What happened before the value was stored happens before it is got.
//
// Thread safety: all methods from any thread, Take() excepted. The value is shared
// by all who get it. Constant-initialized.
// Lifetime: outlives its waits and the references to its value.
// Dropping: a wait that is dropped leaves the line; an initializer that is
// dropped is cancelled, and its turn is the next one's.
#ifndef WEFT_SYNC_ONCE_CELL_H_
#define WEFT_SYNC_ONCE_CELL_H_

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/once_core.h"
#include "weft/sync/once_init.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"

namespace weft::sync {

template <class T>
class OnceCellWait;

template <class T>
class OnceCell {
 public:
  constexpr OnceCell() {}
  OnceCell(const OnceCell&) = delete;
  OnceCell& operator=(const OnceCell&) = delete;
  ~OnceCell() {
    if (core_.HasValue()) value_.~T();
  }

  // The value, or null.
  T* Get() { return core_.HasValue() ? std::addressof(value_) : nullptr; }
  const T* Get() const {
    return core_.HasValue() ? std::addressof(value_) : nullptr;
  }
  bool HasValue() const { return core_.HasValue(); }

  // Stores `value`. False, and `value` is as it was, if there is one already or
  // one is being made.
  bool Set(T&& value) {
    if (core_.TryTurn() != sync_internal::OnceCore::Turn::kMine) return false;
    TurnEnder ender(core_);
    std::unique_ptr<T, Destroy> made(Construct(std::move(value)));
    core_.EndTurnWithValue();
    // Not before: if memory runs out it has not ended.
    static_cast<void>(made.release());
    ender.core = nullptr;
    return true;
  }

  // Ready with the value, a T&; if need be with that of the future which
  // function() returns: a T, or a StatusOr<T>. An error ends the turn, and
  // GetOrTryInit is ready with it, or else with the value's address.
  template <class Function>
  sync_internal::OnceInitFuture<OnceCell, T, Function, false> GetOrInit(
      Function function) {
    return {*this, core_, std::move(function)};
  }
  template <class Function>
  sync_internal::OnceInitFuture<OnceCell, T, Function, true> GetOrTryInit(
      Function function) {
    return {*this, core_, std::move(function)};
  }
  // The same on this thread, with the T or StatusOr<T> that function() returns.
  template <class Function>
  T& BlockingGetOrInit(Function function) {
    return task_internal::BlockFor(
        "OnceCell::BlockingGetOrInit()",
        GetOrInit([&] { return Ready<T>(function()); }));
  }
  template <class Function>
  absl::StatusOr<T*> BlockingGetOrTryInit(Function function) {
    return task_internal::BlockFor(
        "OnceCell::BlockingGetOrTryInit()",
        GetOrTryInit([&] { return Ready<absl::StatusOr<T>>(function()); }));
  }

  // Ready with the value, which somebody else makes.
  OnceCellWait<T> Wait() { return OnceCellWait<T>(*this); }
  T& BlockingWait() {
    return task_internal::BlockFor("OnceCell::BlockingWait()", Wait());
  }

  // Takes the value out; the cell is empty again. Requires: nobody uses the
  // cell at the same time.
  std::optional<T> Take() {
    if (!core_.HasValue()) return std::nullopt;
    core_.Clear();
    // Destroyed even if the move throws, since it is forgotten.
    const std::unique_ptr<T, Destroy> value(std::addressof(value_));
    return std::move(*value);
  }

 private:
  template <class, class, class, bool>
  friend class sync_internal::OnceInitFuture;
  friend OnceCellWait<T>;

  struct Destroy {
    void operator()(T* value) const { value->~T(); }
  };

  // Ends a turn in which the value's constructor has thrown.
  struct TurnEnder {
    explicit TurnEnder(sync_internal::OnceCore& core) : core(&core) {}
    TurnEnder(const TurnEnder&) = delete;
    TurnEnder& operator=(const TurnEnder&) = delete;
    ~TurnEnder() {
      if (core != nullptr) core->EndTurn();
    }
    sync_internal::OnceCore* core;
  };

  // Requires: the caller has the turn, and then ends it with a value.
  T* Construct(T&& value) {
    return std::construct_at(std::addressof(value_), std::move(value));
  }

  union {
    Unit no_value_ = {};
    T value_;  // exists while core_.HasValue()
  };
  sync_internal::OnceCore core_;
};

template <class T>
class [[nodiscard]] OnceCellWait {
 public:
  using Output = T&;

  OnceCellWait(OnceCellWait&&) = default;
  OnceCellWait& operator=(OnceCellWait&&) = delete;
  ~OnceCellWait() {
    if (node_.polled) cell_.core_.DropValueWait(node_);
  }

  Polled<T&> Poll(Context& cx) {
    if (!cell_.core_.PollValue(node_, cx)) return kPending;
    return cell_.value_;
  }

 private:
  friend OnceCell<T>;
  explicit OnceCellWait(OnceCell<T>& cell) : cell_(cell) {}

  OnceCell<T>& cell_;
  sync_internal::WaitNode node_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_ONCE_CELL_H_
