// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CaughtPoll: a call of what a future throws in as a value.
//
// Like GuardedPoll (select/guarded_poll.h) it has its try block in this library
// and not in the templates that use it. Internal.
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

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_CAUGHT_POLL_H_
