// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WEFT_CHECK: stops the program when its caller broke a contract.
//
// What the world does to us is an absl::Status; what a caller does against a
// documented requirement ends here, in every build mode, with a sentence that
// says what to do instead.
//
//   WEFT_CHECK(handle_ != nullptr, "Cancel() was called twice; keep the handle");
//
// Thread safety: may be used from any thread.
#ifndef WEFT_TASK_CHECK_H_
#define WEFT_TASK_CHECK_H_

#include <string_view>

namespace weft::task_internal {

// Prints "FILE:LINE: MESSAGE (CONDITION)" to standard error, with the task that
// the thread is running, and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace weft::task_internal

// Evaluates `condition` exactly once; if false, aborts with `message` (anything
// that converts to std::string_view, evaluated only on failure).
#define WEFT_CHECK(condition, message)                                  \
  ((condition) ? static_cast<void>(0)                                   \
               : ::weft::task_internal::CheckFailed(__FILE__, __LINE__, \
                                                    #condition, message))

#endif  // WEFT_TASK_CHECK_H_
