// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/read_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "gtest/gtest.h"

namespace weft::io {
namespace {

// Random additions and removals, compared with a string.
TEST(ReadBufferTest, BehavesAsAQueueOfBytes) {
  const uint32_t seed = 20261129;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  ReadBuffer buffer;
  std::string model;
  char next = 0;

  for (int i = 0; i < 20'000; ++i) {
    const std::span<char> space = buffer.Space();
    ASSERT_GE(space.size(), ReadBuffer::kInitialSize / 2);
    const size_t added = random() % std::min<size_t>(space.size(), 3000);
    for (char& c : space.first(added)) model.push_back(c = next++);
    buffer.Added(added);
    const size_t taken =
        std::min<size_t>(random() % 3100, buffer.data().size());
    buffer.Consume(taken);
    model.erase(0, taken);
    ASSERT_EQ(buffer.data().size(), model.size());
    ASSERT_TRUE(std::equal(model.begin(), model.end(), buffer.data().begin()));
  }
}

TEST(ReadBufferTest, FindsWithinTheMaximumOnly) {
  ReadBuffer buffer;
  std::memcpy(buffer.Space().data(), "ab\ncd\n", 6);
  buffer.Added(6);

  EXPECT_EQ(buffer.Find('\n', 0, 100), 3u);
  EXPECT_EQ(buffer.Find('\n', 3, 100), 6u);
  EXPECT_EQ(buffer.Find('\n', 0, 3), 3u);
  EXPECT_EQ(buffer.Find('\n', 0, 2), std::nullopt);
  EXPECT_EQ(buffer.Find('\n', 6, 100), std::nullopt);
  EXPECT_EQ(buffer.Find('x', 0, 100), std::nullopt);
}

}  // namespace
}  // namespace weft::io
