// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/open_file_limit.h"

#include <sys/resource.h>

namespace http {

void RaiseOpenFileLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // If it cannot be had, connections wait until others have ended.
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace http
