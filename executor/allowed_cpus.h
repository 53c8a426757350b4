// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AllowedCpus: the processors that the calling thread may use, by number.
// Internal.
//
// Threads that are pinned get one each, in this order: thread i the one at i
// modulo the number of them.
//
// Thread safety: any thread.
#ifndef WEFT_EXECUTOR_ALLOWED_CPUS_H_
#define WEFT_EXECUTOR_ALLOWED_CPUS_H_

#include <vector>

namespace weft::executor_internal {

// At least one, ascending. Where the system does not tell, which it does not on
// a machine with more processors than cpu_set_t has room for: the first alone.
std::vector<int> AllowedCpus();

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_ALLOWED_CPUS_H_
