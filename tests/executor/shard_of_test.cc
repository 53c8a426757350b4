// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/shard_of.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

TEST(ShardOfTest, SpreadsKeysInARow) {
  std::vector<int> keys(4);
  for (uint64_t key = 0; key < 1000; ++key) ++keys.at(ShardOf(key, 4));
  for (const int count : keys) EXPECT_NEAR(count, 250, 60);

  std::vector<int> names(4);
  for (int i = 0; i < 1000; ++i) {
    ++names.at(ShardOf("key " + std::to_string(i), 4));
  }
  for (const int count : names) EXPECT_NEAR(count, 250, 60);
}

// Data that was placed by one release is found by the next.
TEST(ShardOfTest, NeverChanges) {
  std::string shards;
  for (uint64_t key = 0; key < 16; ++key) {
    shards += std::to_string(ShardOf(key, 7));
  }
  for (const char* key : {"", "a", "b", "weft", "a longer key"}) {
    shards += std::to_string(ShardOf(key, 7));
  }

  EXPECT_EQ(shards, "634032524402452352211");
}

TEST(ShardOfTest, OneShardHasAllKeys) {
  EXPECT_EQ(ShardOf(uint64_t{5}, 1), 0);
  EXPECT_EQ(ShardOf(UINT64_MAX, 1), 0);
  EXPECT_EQ(ShardOf("key", 1), 0);
}

}  // namespace
}  // namespace weft::executor_internal
