// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/http_date.h"

#include "gtest/gtest.h"

namespace http {
namespace {

const absl::Time kMoment = absl::FromUnixSeconds(784111777);

TEST(HttpDateTest, FormatsThePreferredForm) {
  EXPECT_EQ(FormatHttpDate(kMoment), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(FormatHttpDate(kMoment + absl::Milliseconds(999)),
            "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpDateTest, ParsesAllThreeForms) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), kMoment);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT"), kMoment);
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994"), kMoment);
}

TEST(HttpDateTest, RefusesWhatIsNoDate) {
  for (const char* text : {"", "0", "yesterday", "Sun, 06 Nov 1994",
                           "Sun, 32 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace http
