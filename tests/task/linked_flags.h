// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The same functions, compiled with different options: see linked_flags.cc.
#ifndef WEFT_TESTS_TASK_LINKED_FLAGS_H_
#define WEFT_TESTS_TASK_LINKED_FLAGS_H_

#include <string>

#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/tests/kit/signal.h"

namespace weft {

// Waits for `signal`, then for `inner`, and adds its own name.
Task<std::string> AppendPlain(Task<std::string> inner, Signal* signal);
Task<std::string> AppendOptimized(Task<std::string> inner, Signal* signal);
Task<std::string> AppendWithoutExceptions(Task<std::string> inner,
                                          Signal* signal);
Task<std::string> AppendWithoutAssertions(Task<std::string> inner,
                                          Signal* signal);

JoinHandle<std::string> SpawnPlain(Spawner& spawner, Task<std::string> task);
JoinHandle<std::string> SpawnOptimized(Spawner& spawner,
                                       Task<std::string> task);
JoinHandle<std::string> SpawnWithoutExceptions(Spawner& spawner,
                                               Task<std::string> task);
JoinHandle<std::string> SpawnWithoutAssertions(Spawner& spawner,
                                               Task<std::string> task);

// BlockOn, as that object has it.
std::string BlockOnPlain(JoinHandle<std::string> handle);
std::string BlockOnOptimized(JoinHandle<std::string> handle);
std::string BlockOnWithoutExceptions(JoinHandle<std::string> handle);
std::string BlockOnWithoutAssertions(JoinHandle<std::string> handle);

}  // namespace weft

#endif  // WEFT_TESTS_TASK_LINKED_FLAGS_H_
