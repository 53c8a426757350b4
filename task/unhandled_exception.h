// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What becomes of an exception that nobody can catch: that of a detached task.
// Internal; users set Environment::unhandled_exception.
#ifndef WEFT_TASK_UNHANDLED_EXCEPTION_H_
#define WEFT_TASK_UNHANDLED_EXCEPTION_H_

#include <exception>

namespace weft::task_internal {

// Gives `exception` to the current environment's handler, or else describes it
// on standard error. What the handler throws ends the program: it would leave
// through an executor, which is in the middle of a task's end. Thread safety: any
// thread.
void ReportUnhandledException(std::exception_ptr exception) noexcept;

}  // namespace weft::task_internal

#endif  // WEFT_TASK_UNHANDLED_EXCEPTION_H_
