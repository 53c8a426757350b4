// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sleeping on a word of memory. Internal to drivers; see futex(2).
//
// Thread safety: any thread.
// Lifetime: FutexWake may be called on a word whose sleeper goes on at once and
// gives it up: the caller keeps the word's memory alive.
#ifndef WEFT_TASK_FUTEX_H_
#define WEFT_TASK_FUTEX_H_

#include <atomic>
#include <cstdint>

#include "weft/task/instant.h"

namespace weft::task_internal {

// Sleeps while `word` is `expected`; returns at the latest at `deadline`, when a
// signal has been handled, and sometimes for no reason.
void FutexWait(std::atomic<uint32_t>& word, uint32_t expected,
               Instant deadline);

// Wakes one thread that sleeps on `word`.
void FutexWake(std::atomic<uint32_t>& word);

}  // namespace weft::task_internal

#endif  // WEFT_TASK_FUTEX_H_
