// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of the benchmark of sync that concern channels. Their names say how many
// senders and receivers, which capacity (u: none) and how many bytes in a message.
#ifndef WEFT_BENCH_SYNC_CHANNEL_CASES_H_
#define WEFT_BENCH_SYNC_CHANNEL_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> ChannelCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_SYNC_CHANNEL_CASES_H_
