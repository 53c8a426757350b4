// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AnyFuture<T>: any future whose output is a T.
//
//   std::vector<AnyFuture<Page>> sources;
//   sources.push_back(Fetch(url));
//   sources.push_back(Ready(FromCache(url)));
//   Page page = co_await Race(std::move(sources));
//
// A poll is one indirect call. A future of up to three words that may be moved
// between polls (a Task, a JoinHandle) is held in place, without an allocation;
// another one is on the heap.
//
// Thread safety: that of the future.
// Lifetime: movable, also between polls, whatever the future is. One that was
// moved from may only be assigned to and destroyed.
// Dropping: drops the future.
#ifndef WEFT_SELECT_ANY_FUTURE_H_
#define WEFT_SELECT_ANY_FUTURE_H_

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

template <class T = void>
class [[nodiscard]] AnyFuture {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  template <Future F>
    requires(std::is_same_v<typename F::Output, T> &&
             !std::is_same_v<F, AnyFuture>)
  AnyFuture(F future)  // NOLINT: implicit
      : operations_(&kOperationsOf<F>) {
    if constexpr (kInPlace<F>) {
      ::new (storage_) F(std::move(future));
    } else {
      ::new (storage_) F*(new F(std::move(future)));
    }
  }
  AnyFuture(AnyFuture&& other) noexcept
      : operations_(std::exchange(other.operations_, nullptr)) {
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
  }
  AnyFuture& operator=(AnyFuture&& other) noexcept {
    if (this == &other) return *this;
    Drop();
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
    return *this;
  }
  ~AnyFuture() { Drop(); }

  Polled<T> Poll(Context& cx) {
    WEFT_CHECK(operations_ != nullptr, "this AnyFuture was moved from");
    return operations_->poll(storage_, cx);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (operations_ != nullptr) operations_->trace(storage_, trace);
  }

 private:
  // What can be done with a future, or with a pointer to one, in a storage.
  struct Operations {
    Polled<T> (*poll)(void* storage, Context& cx);
    // Leaves nothing in `from`.
    void (*move)(void* from, void* to);
    void (*destroy)(void* storage);
    void (*trace)(const void* storage, AwaitTrace& trace);
  };

  static constexpr size_t kSize = 3 * sizeof(void*);

  template <class F>
  static constexpr bool kInPlace =
      sizeof(F) <= kSize && alignof(F) <= alignof(void*) &&
      weft::kMovableAfterPoll<F> && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static F& In(void* storage) {
    if constexpr (kInPlace<F>) {
      return *std::launder(static_cast<F*>(storage));
    } else {
      return **std::launder(static_cast<F**>(storage));
    }
  }

  template <class F>
  static constexpr Operations kOperationsOf = {
      .poll = [](void* storage,
                 Context& cx) { return In<F>(storage).Poll(cx); },
      .move =
          [](void* from, void* to) {
            if constexpr (kInPlace<F>) {
              ::new (to) F(std::move(In<F>(from)));
              In<F>(from).~F();
            } else {
              ::new (to) F*(&In<F>(from));
            }
          },
      .destroy =
          [](void* storage) {
            if constexpr (kInPlace<F>) {
              In<F>(storage).~F();
            } else {
              delete &In<F>(storage);
            }
          },
      .trace =
          [](const void* storage, AwaitTrace& trace) {
            TraceFuture<F>(In<F>(const_cast<void*>(storage)), trace);
          },
  };

  void Drop() {
    if (const Operations* operations = std::exchange(operations_, nullptr)) {
      operations->destroy(storage_);
    }
  }

  const Operations* operations_;  // null once it was moved from
  alignas(void*) std::byte storage_[kSize];
};

}  // namespace weft

#endif  // WEFT_SELECT_ANY_FUTURE_H_
