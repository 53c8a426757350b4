// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// GuardedPoll: a poll after which something is cleaned up if it throws.
//
// A combinator whose branch throws drops the other branches before the
// exception leaves it. The try block is in this library, not in the templates
// that use it: code compiled with and without exceptions may be linked
// together, and then either copy of a template may be the one that runs.
// Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_GUARDED_POLL_H_
#define WEFT_SELECT_GUARDED_POLL_H_

namespace weft::select_internal {

// Returns poll(object). If that throws, calls drop(object) and rethrows.
bool GuardedPoll(bool (*poll)(void* object), void (*drop)(void* object),
                 void* object);

// The same for two callables.
template <class PollFn, class DropFn>
bool GuardedPoll(PollFn poll, DropFn drop) {
  struct Both {
    PollFn& poll;
    DropFn& drop;
  } both{poll, drop};
  return GuardedPoll(
      [](void* object) { return static_cast<Both*>(object)->poll(); },
      [](void* object) { static_cast<Both*>(object)->drop(); }, &both);
}

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_GUARDED_POLL_H_
