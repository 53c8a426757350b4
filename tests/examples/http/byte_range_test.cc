// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/byte_range.h"

#include <optional>

#include "gtest/gtest.h"

namespace http {
namespace {

TEST(ByteRangeTest, UnderstandsTheThreeForms) {
  EXPECT_EQ(ParseByteRange("bytes=0-9", 100), (ByteRange{0, 10}));
  EXPECT_EQ(ParseByteRange("bytes=90-", 100), (ByteRange{90, 10}));
  EXPECT_EQ(ParseByteRange("bytes=-10", 100), (ByteRange{90, 10}));
  EXPECT_EQ(ParseByteRange("bytes=99-99", 100), (ByteRange{99, 1}));
}

TEST(ByteRangeTest, CutsAtTheEndOfTheFile) {
  EXPECT_EQ(ParseByteRange("bytes=50-1000", 100), (ByteRange{50, 50}));
  EXPECT_EQ(ParseByteRange("bytes=-1000", 100), (ByteRange{0, 100}));
  EXPECT_EQ(ParseByteRange("bytes=0-99999999999999999999999", 100),
            (ByteRange{0, 100}));
}

TEST(ByteRangeTest, OutsideOfTheFileIsEmpty) {
  EXPECT_EQ(ParseByteRange("bytes=100-", 100)->length, 0u);
  EXPECT_EQ(ParseByteRange("bytes=99999999999999999999999-", 100)->length, 0u);
  EXPECT_EQ(ParseByteRange("bytes=-0", 100)->length, 0u);
  EXPECT_EQ(ParseByteRange("bytes=0-0", 0)->length, 0u);
  EXPECT_EQ(ParseByteRange("bytes=-5", 0)->length, 0u);
}

TEST(ByteRangeTest, IgnoresWhatItDoesNotUnderstand) {
  for (const char* field :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=5",
        "bytes=0-1,5-6", "items=0-1", "bytes=0-1x", "bytes=+1-2",
        "bytes=--1"}) {
    EXPECT_EQ(ParseByteRange(field, 100), std::nullopt) << field;
  }
}

}  // namespace
}  // namespace http
