// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Either<A, B>: a future that is one of two types, with one output type.
//
//   Either<Task<Page>, ReadyFuture<Page>> Get(const Url& url) {
//     if (const Page* page = FindInCache(url)) return Ready(*page);
//     return Fetch(url);
//   }
//
// As large as the larger one, without an allocation. For more types nest it, or
// use AnyFuture.
//
// Thread safety: one thread at a time.
// Dropping: drops the future in it.
#ifndef WEFT_SELECT_EITHER_H_
#define WEFT_SELECT_EITHER_H_

#include <type_traits>
#include <utility>
#include <variant>

#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

template <Future A, Future B>
class [[nodiscard]] Either {
 public:
  static_assert(std::is_same_v<OutputOf<A>, OutputOf<B>>,
                "the futures of an Either have one output type; see Map");
  static_assert(!std::is_same_v<A, B>,
                "the futures of an Either have different types");
  using Output = OutputOf<A>;
  static constexpr bool kMovableAfterPoll =
      weft::kMovableAfterPoll<A> && weft::kMovableAfterPoll<B>;

  Either(A future) : future_(std::move(future)) {}  // NOLINT: implicit
  Either(B future) : future_(std::move(future)) {}  // NOLINT: implicit

  Polled<Output> Poll(Context& cx) {
    if (A* a = std::get_if<A>(&future_)) return a->Poll(cx);
    return std::get_if<B>(&future_)->Poll(cx);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (const A* a = std::get_if<A>(&future_)) {
      TraceFuture(*a, trace);
    } else {
      TraceFuture(*std::get_if<B>(&future_), trace);
    }
  }

 private:
  std::variant<A, B> future_;
};

}  // namespace weft

#endif  // WEFT_SELECT_EITHER_H_
