// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/validators.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace http {
namespace {

const absl::Time kModified =
    absl::FromUnixSeconds(784111777) + absl::Nanoseconds(5);
constexpr char kDate[] = "Sun, 06 Nov 1994 08:49:37 GMT";

Request RequestWith(std::string name, std::string value) {
  Request request;
  request.fields.emplace_back(std::move(name), std::move(value));
  return request;
}

TEST(ValidatorsTest, EtagChangesWithSizeAndTime) {
  const Validators validators(10, kModified);
  EXPECT_EQ(validators.etag().front(), '"');
  EXPECT_EQ(validators.etag().back(), '"');
  EXPECT_EQ(validators.etag(), Validators(10, kModified).etag());
  EXPECT_NE(validators.etag(), Validators(11, kModified).etag());
  EXPECT_NE(validators.etag(),
            Validators(10, kModified + absl::Nanoseconds(1)).etag());
  EXPECT_EQ(validators.LastModified(), kDate);
}

TEST(ValidatorsTest, MatchesAnEtagInAList) {
  const Validators validators(10, kModified);
  const std::string etag = validators.etag();
  for (const std::string& list :
       {etag, "W/" + etag, std::string("*"), "\"a\", " + etag, etag + ",\"b\"",
        "\"a\" ,\t" + etag + " , \"c\""}) {
    EXPECT_TRUE(validators.Match(RequestWith("if-none-match", list))) << list;
  }
  for (const std::string list : {"", "\"a\"", ",,", "W/\"a\"", "abc"}) {
    EXPECT_FALSE(validators.Match(RequestWith("If-None-Match", list))) << list;
  }
}

TEST(ValidatorsTest, MatchesADateThatIsNotOlder) {
  const Validators validators(10, kModified);
  auto match = [&](const char* date) {
    return validators.Match(RequestWith("If-Modified-Since", date));
  };
  EXPECT_TRUE(match(kDate));
  EXPECT_TRUE(match("Sun, 06 Nov 1994 08:49:38 GMT"));
  EXPECT_FALSE(match("Sun, 06 Nov 1994 08:49:36 GMT"));
  EXPECT_FALSE(match("not a date"));
  EXPECT_FALSE(validators.Match(Request()));
}

TEST(ValidatorsTest, EtagsComeBeforeDates) {
  const Validators validators(10, kModified);
  Request request = RequestWith("If-Modified-Since", kDate);
  request.fields.emplace_back("If-None-Match", "\"other\"");
  EXPECT_FALSE(validators.Match(request));
}

TEST(ValidatorsTest, RangeOfAnotherVersionIsNotAllowed) {
  const Validators validators(10, kModified);
  EXPECT_TRUE(validators.AllowRange(Request()));
  EXPECT_TRUE(validators.AllowRange(RequestWith("If-Range", kDate)));
  EXPECT_TRUE(
      validators.AllowRange(RequestWith("If-Range", validators.etag())));
  EXPECT_FALSE(validators.AllowRange(RequestWith("If-Range", "\"other\"")));
}

}  // namespace
}  // namespace http
