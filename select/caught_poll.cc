// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/caught_poll.h"

#include <exception>
#include <utility>

namespace weft::select_internal {

std::exception_ptr CaughtPoll(void (*poll)(void* object), void* object) {
#if defined(__cpp_exceptions)
  try {
    poll(object);
  } catch (...) {
    return std::current_exception();
  }
#else
  poll(object);
#endif
  return nullptr;
}

void Rethrow(std::exception_ptr& exception) {
  // Moved here, for the caller's cleanup may be compiled without exceptions.
  std::rethrow_exception(std::exchange(exception, nullptr));
}

}  // namespace weft::select_internal
