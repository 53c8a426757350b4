// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/response.h"

#include "gtest/gtest.h"

namespace http {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(784111777);

TEST(ResponseTest, FormatsItsHead) {
  Response response(200);
  response.AddField("ETag", "\"x\"");
  response.SetText("text/html", "<p>");

  EXPECT_EQ(response.Head(true, kNow),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Connection: keep-alive\r\n"
            "Content-Length: 3\r\n"
            "ETag: \"x\"\r\n"
            "Content-Type: text/html\r\n"
            "\r\n");
}

TEST(ResponseTest, PlainNamesItsStatus) {
  const Response response = Response::Plain(431);
  EXPECT_EQ(response.status(), 431);
  EXPECT_EQ(response.text(), "431 Request Header Fields Too Large\n");
  EXPECT_EQ(response.body_size(), response.text().size());
}

TEST(ResponseTest, SaysThatTheConnectionEnds) {
  EXPECT_NE(Response(404).Head(false, kNow).find("\r\nConnection: close\r\n"),
            std::string::npos);
}

}  // namespace
}  // namespace http
