// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What an exception says, for messages. Internal.
//
// Thread safety: any thread.
#ifndef WEFT_TASK_DESCRIBE_EXCEPTION_H_
#define WEFT_TASK_DESCRIBE_EXCEPTION_H_

#include <exception>
#include <string>

namespace weft::task_internal {

// The what() of a std::exception; of others, that they are none. Requires: not
// null.
std::string DescribeException(const std::exception_ptr& exception);

}  // namespace weft::task_internal

#endif  // WEFT_TASK_DESCRIBE_EXCEPTION_H_
