// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CallbackWaker: a waker, for tests, that does something when it is woken and
// when it is dropped unwoken: what user code may do in its wakers, a primitive
// must survive.
//
//   Waker waker = CallbackWaker([&] { event.reset(); });
//
// Thread safety: the callbacks run on whatever thread wakes or drops.
#ifndef WEFT_TESTS_SYNC_CALLBACK_WAKER_H_
#define WEFT_TESTS_SYNC_CALLBACK_WAKER_H_

#include <functional>

#include "weft/task/waker.h"

namespace weft {

// Each wake calls `on_wake` and each drop of a clone that was not consumed by a
// wake calls `on_drop`; both may be null.
Waker CallbackWaker(std::function<void()> on_wake,
                    std::function<void()> on_drop = nullptr);

}  // namespace weft

#endif  // WEFT_TESTS_SYNC_CALLBACK_WAKER_H_
