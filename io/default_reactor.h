// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The reactor of threads that have none: one service thread, "weft-io", made at
// the first use and never ended. Internal.
//
// Thread safety: any thread.
#ifndef WEFT_IO_DEFAULT_REACTOR_H_
#define WEFT_IO_DEFAULT_REACTOR_H_

#include "absl/status/statusor.h"
#include "weft/io/reactor.h"

namespace weft::io::io_internal {

// The service thread's reactor, or why it could not be made; then the next call
// tries again. The reactor lives forever.
absl::StatusOr<Reactor*> DefaultReactor();

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_DEFAULT_REACTOR_H_
