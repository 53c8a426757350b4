// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/log_line.h"

#include "gtest/gtest.h"

namespace http {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(784111777);

TEST(LogLineTest, HasTheCommonForm) {
  Request request;
  request.method = "GET";
  request.target = "/a?b";
  request.major = 1;
  request.minor = 1;
  EXPECT_EQ(LogLine("127.0.0.1", request, 200, 12, kNow),
            "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b HTTP/1.1\" "
            "200 12\n");
}

TEST(LogLineTest, TargetCannotForgeALine) {
  Request request;
  request.method = "GET";
  request.target = "/\" 200 0\n\x1b[2J\\";
  EXPECT_EQ(LogLine("c", request, 400, 0, kNow),
            "c - - [06/Nov/1994:08:49:37 +0000] \"GET "
            "/\\\" 200 0\\n\\x1b[2J\\\\ HTTP/0.0\" 400 0\n");
}

TEST(LogLineTest, RequestThatCouldNotBeParsedIsADash) {
  EXPECT_EQ(LogLine("c", Request(), 400, 0, kNow),
            "c - - [06/Nov/1994:08:49:37 +0000] \"-\" 400 0\n");
}

}  // namespace
}  // namespace http
