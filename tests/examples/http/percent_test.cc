// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/percent.h"

#include <string>

#include "gtest/gtest.h"

namespace http {
namespace {

TEST(PercentTest, DecodesEachTripleOnce) {
  EXPECT_EQ(PercentDecode("a%20b%2fC%2F"), "a b/C/");
  EXPECT_EQ(PercentDecode("%252e"), "%2e");
  EXPECT_EQ(PercentDecode("plus+stays"), "plus+stays");
  EXPECT_EQ(PercentDecode("%00"), std::string(1, '\0'));
  EXPECT_EQ(PercentDecode("%c3%BC"), "\xc3\xbc");
  EXPECT_EQ(PercentDecode(""), "");
}

TEST(PercentTest, RefusesBrokenTriples) {
  for (const char* text : {"%", "a%2", "%zz", "%2g", "%g2", "%%20", "% 20"}) {
    EXPECT_EQ(PercentDecode(text), std::nullopt) << text;
  }
}

TEST(PercentTest, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a b/c?d#e%f:g\"<>&'"),
            "a%20b%2Fc%3Fd%23e%25f%3Ag%22%3C%3E%26%27");
  EXPECT_EQ(PercentEncode("\xff\n"), "%FF%0A");
}

TEST(PercentTest, DecodingReversesEncodingOfEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);

  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
}

}  // namespace
}  // namespace http
