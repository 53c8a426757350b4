// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CaughtPoll and Rethrow: what a future throws, as a value, and thrown again.
//
// As with GuardedPoll (select/guarded_poll.h) what deals with exceptions is in this
// library and not in the templates that use it. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_CAUGHT_POLL_H_
#define WEFT_SELECT_CAUGHT_POLL_H_

#include <exception>

namespace weft::select_internal {

// Calls poll(object); returns what that throws, or null.
std::exception_ptr CaughtPoll(void (*poll)(void* object), void* object);

// The same for a callable.
template <class PollFn>
std::exception_ptr CaughtPoll(PollFn poll) {
  return CaughtPoll([](void* object) { (*static_cast<PollFn*>(object))(); },
                    &poll);
}

// Throws `exception`, which is not null, and leaves it null.
[[noreturn]] void Rethrow(std::exception_ptr& exception);

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_CAUGHT_POLL_H_
