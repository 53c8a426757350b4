// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ShardOf: which of a number of shards a key belongs to. Internal.
//
// Always the same for as many shards, in every process and every release, since
// data is placed by it; and evenly spread, also for keys in a row.
//
// Thread safety: any thread.
#ifndef WEFT_EXECUTOR_SHARD_OF_H_
#define WEFT_EXECUTOR_SHARD_OF_H_

#include <cstdint>
#include <string_view>

namespace weft::executor_internal {

// From 0 to shards - 1. Requires: shards >= 1.
int ShardOf(uint64_t key, int shards);
int ShardOf(std::string_view key, int shards);

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_SHARD_OF_H_
