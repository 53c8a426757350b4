// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/request_parser.h"

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace http {
namespace {

// What a connection would see: the requests, and the status of the failure.
struct Parsed {
  std::vector<Request> requests;
  int status = 0;
  bool has_begun = false;
};

// Feeds `bytes` in pieces of `piece` bytes.
Parsed ParseAll(std::string_view bytes, size_t piece = SIZE_MAX) {
  RequestParser parser;
  Parsed parsed;
  while (!bytes.empty() && parsed.status == 0) {
    std::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    while (parsed.status == 0 && parser.Parse(input)) {
      Request request = parser.TakeRequest();
      parsed.status = request.error;
      if (request.error == 0) parsed.requests.push_back(std::move(request));
    }
    EXPECT_TRUE(input.empty() || parsed.status != 0);
  }
  parsed.has_begun = parser.HasBegun();
  return parsed;
}

TEST(RequestParserTest, ParsesARequest) {
  const Parsed parsed = ParseAll(
      "GET /a?b HTTP/1.1\r\nHost: example\r\nAccept:\r\nX-Long:  v w \r\n\r\n");

  ASSERT_EQ(parsed.requests.size(), 1u);
  const Request& request = parsed.requests[0];
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a?b");
  EXPECT_EQ(request.major, 1);
  EXPECT_EQ(request.minor, 1);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_FALSE(request.has_body);
  EXPECT_EQ(request.fields.size(), 3u);
  EXPECT_EQ(request.Field("host"), "example");
  EXPECT_EQ(request.Field("accept"), "");
  EXPECT_EQ(request.Field("x-long"), "v w ");
  EXPECT_FALSE(parsed.has_begun);
}

TEST(RequestParserTest, SplitsPipelinedRequestsWhereverTheBytesAreCut) {
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    bytes += "\r\nHEAD /" + std::to_string(i) +
             " HTTP/1.1\r\nHost: h\r\nN: " + std::to_string(i) + "\r\n\r\n";
  }
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Parsed parsed = ParseAll(bytes, piece);
    ASSERT_EQ(parsed.status, 0) << piece;
    ASSERT_EQ(parsed.requests.size(), 5u) << piece;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(parsed.requests[i].target, "/" + std::to_string(i));
      EXPECT_EQ(parsed.requests[i].Field("n"), std::to_string(i));
      EXPECT_EQ(parsed.requests[i].fields.size(), 2u);
    }
  }
}

TEST(RequestParserTest, KnowsWhetherTheConnectionStaysOpen) {
  auto keep_alive = [](std::string_view bytes) {
    return ParseAll(bytes).requests.at(0).keep_alive;
  };
  EXPECT_TRUE(keep_alive("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(keep_alive("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keep_alive("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keep_alive("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(RequestParserTest, RequestWithBodyIsCompleteAfterItsHead) {
  for (const char* field :
       {"Content-Length: 5", "Transfer-Encoding: chunked"}) {
    RequestParser parser;
    const std::string bytes =
        "POST / HTTP/1.1\r\n" + std::string(field) + "\r\n\r\nhello";
    std::string_view input = bytes;

    ASSERT_TRUE(parser.Parse(input)) << field;
    EXPECT_TRUE(parser.TakeRequest().has_body) << field;
  }
  EXPECT_FALSE(ParseAll("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
                   .requests.at(0)
                   .has_body);
}

TEST(RequestParserTest, UpgradeIsNotTaken) {
  const Parsed parsed = ParseAll(
      "GET /1 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
      "GET /2 HTTP/1.1\r\n\r\n");
  ASSERT_EQ(parsed.requests.size(), 2u);
  EXPECT_EQ(parsed.requests[1].target, "/2");
}

TEST(RequestParserTest, SaysWhyARequestIsRefused) {
  EXPECT_EQ(ParseAll("\x16\x03\x01 hello\r\n\r\n").status, 400);
  EXPECT_EQ(ParseAll("GET\r\n\r\n").status, 400);
  EXPECT_EQ(ParseAll("GET / HTTP/1.1\r\nContent-Length : 1\r\n\r\n").status,
            400);
  EXPECT_EQ(ParseAll("GET / HTTP/1.1\r\nbad\x01: x\r\n\r\n").status, 400);
  EXPECT_EQ(ParseAll("GET / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n").status,
            400);
  EXPECT_EQ(ParseAll("GET / HTTP/x\r\n\r\n").status, 400);
  EXPECT_EQ(ParseAll("GET / HTTP/1.1\r\nContent-Length: 1\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n")
                .status,
            400);
  EXPECT_EQ(ParseAll("BREW / HTTP/1.1\r\n\r\n").status, 501);
}

TEST(RequestParserTest, KeepsWhatIsKnownOfABrokenRequest) {
  RequestParser parser;
  std::string_view input = "GET /a HTTP/1.1\r\nX: y";
  EXPECT_FALSE(parser.Parse(input));

  const Request request = parser.TakeBroken(408);
  EXPECT_EQ(request.error, 408);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a");
  EXPECT_FALSE(request.keep_alive);
  EXPECT_FALSE(parser.HasBegun());
}

TEST(RequestParserTest, BoundsTheTarget) {
  const std::string start = "GET /";
  const std::string end = " HTTP/1.1\r\n\r\n";
  const std::string longest(RequestParser::kMaxTarget - 1, 'a');
  for (const size_t piece : {size_t{1}, size_t{1000}, SIZE_MAX}) {
    EXPECT_EQ(ParseAll(start + longest + end, piece).requests.size(), 1u);
    EXPECT_EQ(ParseAll(start + longest + "a" + end, piece).status, 414);
  }
}

TEST(RequestParserTest, BoundsTheHead) {
  const std::string start = "GET / HTTP/1.1\r\nX: ";
  const std::string value(RequestParser::kMaxHead - start.size() - 4, 'v');
  for (const size_t piece : {size_t{1}, size_t{1000}, SIZE_MAX}) {
    EXPECT_EQ(ParseAll(start + value + "\r\n\r\n", piece).requests.size(), 1u);
    EXPECT_EQ(ParseAll(start + value + "v\r\n\r\n", piece).status, 431);
  }
}

TEST(RequestParserTest, BoundsTheNumberOfFields) {
  std::string bytes = "GET / HTTP/1.1\r\n";
  for (size_t i = 0; i < RequestParser::kMaxFields; ++i) bytes += "X:\r\n";
  EXPECT_EQ(ParseAll(bytes + "\r\n").requests.size(), 1u);
  EXPECT_EQ(ParseAll(bytes + "X:\r\n\r\n").status, 431);
}

TEST(RequestParserTest, EmptyLinesDoNotBeginARequest) {
  EXPECT_FALSE(ParseAll("\r\n\r\n").has_begun);
  EXPECT_TRUE(ParseAll("\r\nG").has_begun);
  EXPECT_EQ(ParseAll(std::string(RequestParser::kMaxHead, '\n')).status, 431);
}

// Any bytes in any pieces: no crash, and how they are cut changes nothing.
TEST(RequestParserTest, AnyBytesEndTheSameHoweverTheyAreCut) {
  constexpr int kSeed = 20260807;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const std::string base =
      "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = base + base;
    for (int changes = 0; changes < 3; ++changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    }
    const Parsed whole = ParseAll(bytes);
    const Parsed cut = ParseAll(bytes, 1 + random() % 7);
    ASSERT_EQ(whole.status, cut.status) << bytes;
    ASSERT_EQ(whole.requests.size(), cut.requests.size()) << bytes;
    for (size_t i = 0; i < whole.requests.size(); ++i) {
      ASSERT_EQ(whole.requests[i].fields, cut.requests[i].fields) << bytes;
    }
  }
}

}  // namespace
}  // namespace http
