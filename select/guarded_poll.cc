// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/guarded_poll.h"

namespace weft::select_internal {

bool GuardedPoll(bool (*poll)(void* object), void (*drop)(void* object),
                 void* object) {
#if defined(__cpp_exceptions)
  try {
    return poll(object);
  } catch (...) {
    drop(object);
    throw;
  }
#else
  static_cast<void>(drop);
  return poll(object);
#endif
}

}  // namespace weft::select_internal
