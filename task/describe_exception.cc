// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/describe_exception.h"

#include <exception>
#include <string>

namespace weft::task_internal {

std::string DescribeException(const std::exception_ptr& exception) {
#if defined(__cpp_exceptions)
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "not a std::exception";
  }
#else
  static_cast<void>(exception);
  return "an exception";
#endif
}

}  // namespace weft::task_internal
