// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Whether a coroutine borrows: takes references, pointers or views.
//
// Dropping a handle cancels its task but does not wait for it, so a coroutine
// that borrows must not be handed to somebody who may outlive what it borrows
// from. A Task records, at no cost, whether its coroutine took a parameter of a
// borrowing type (or is a member function or lambda of a non-empty object,
// which it reads through a reference). Spawn and Detach check that, and the type
// of a future that is no coroutine.
//
// A type that refers to memory it does not own says so, in itself or beside it:
//   static constexpr bool kBorrows = true;
//   template <> inline constexpr bool weft::kBorrows<MyView> = true;
// One whose objects outlive every task that is given a reference or a pointer to
// them, by the way the program is made, says that, right behind its definition:
//   template <> inline constexpr bool weft::kReferencesBorrow<MyServer> = false;
// Spawner and ThreadPerCore do: who runs tasks is there before them, and a library
// that is given a Spawner& can be spawned.
//
// weft's own are those that refer to a stream or to a buffer. Permits of objects of
// sync/ and waits for them are not: a task that has one usually shares in its
// owner.
//
// Thread safety: none needed.
#ifndef WEFT_TASK_BORROW_H_
#define WEFT_TASK_BORROW_H_

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace weft {

class Spawner;

// True if a reference or a pointer to a T counts as borrowing.
template <class T>
inline constexpr bool kReferencesBorrow = true;
template <>
inline constexpr bool kReferencesBorrow<Spawner> = false;

// True for values of type T that refer to memory they do not own.
template <class T>
inline constexpr bool kBorrows = [] {
  if constexpr (requires { T::kBorrows; }) {
    return bool{T::kBorrows};
  } else {
    using Pointee = std::remove_pointer_t<T>;
    return std::is_pointer_v<T> && !std::is_function_v<Pointee> &&
           kReferencesBorrow<std::remove_cv_t<Pointee>>;
  }
}();
template <class C, class Traits>
inline constexpr bool kBorrows<std::basic_string_view<C, Traits>> = true;
template <>  // its own type where Abseil was built so
inline constexpr bool kBorrows<absl::string_view> = true;
template <class T>
inline constexpr bool kBorrows<std::initializer_list<T>> = true;
template <class T, size_t N>
inline constexpr bool kBorrows<std::span<T, N>> = true;
template <class T>
inline constexpr bool kBorrows<absl::Span<T>> = true;
template <class Signature>
inline constexpr bool kBorrows<absl::FunctionRef<Signature>> = true;
template <class T>
inline constexpr bool kBorrows<std::reference_wrapper<T>> = true;

namespace task_internal {

// For a parameter type as std::coroutine_traits gives it. An empty object has
// nothing that could dangle: a lambda without captures is one.
template <class P>
inline constexpr bool kParameterBorrows =
    std::is_reference_v<P>
        ? !(std::is_empty_v<std::remove_cvref_t<P>> ||
            std::is_function_v<std::remove_reference_t<P>>) &&
              kReferencesBorrow<std::remove_cvref_t<P>>
        : kBorrows<std::remove_cv_t<P>>;

// Whether a task that polls `future` borrows.
template <class F>
bool FutureBorrows(const F& future) {
  if constexpr (requires { future.Borrows(); }) {
    return future.Borrows();
  } else {
    return kBorrows<F>;
  }
}

// In debug builds of this library CHECK-fails if `borrows`.
void CheckNotBorrowing(bool borrows);

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_BORROW_H_
