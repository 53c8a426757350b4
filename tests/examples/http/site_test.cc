// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/site.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/dir.h"
#include "weft/task/block_on.h"
#include "weft/tests/examples/inline_offload.h"
#include "weft/tests/examples/temp_folder.h"

namespace http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::weft::BlockOn;
using ::weft::testing::InlineOffload;
using ::weft::testing::TempFolder;

class SiteTest : public ::testing::Test {
 protected:
  static Request Get(std::string target) {
    Request request;
    request.method = "GET";
    request.target = std::move(target);
    request.major = 1;
    request.minor = 1;
    request.fields.emplace_back("Host", "h");
    return request;
  }
  static Request Get(std::string target, std::string name, std::string value) {
    Request request = Get(std::move(target));
    request.fields.emplace_back(std::move(name), std::move(value));
    return request;
  }

  Response Answer(const Request& request) {
    InlineOffload::Scope scope;
    absl::StatusOr<weft::fs::Dir> root =
        BlockOn(weft::fs::Dir::Open(root_.path()));
    EXPECT_TRUE(root.ok()) << root.status();
    const Site site(*std::move(root));
    return BlockOn(site.Answer(request));
  }
  int StatusOf(std::string target) {
    return Answer(Get(std::move(target))).status();
  }

  static std::string HeadOf(const Response& response) {
    return response.Head(true, absl::Now());
  }
  // The body, read as it would be sent.
  static std::string BodyOf(const Response& response) {
    if (!response.file().has_value()) return response.text();
    InlineOffload::Scope scope;
    std::string body(response.body_size(), '\0');
    EXPECT_EQ(*BlockOn(response.file()->ReadAt(response.part().offset, body)),
              body.size());
    return body;
  }

  const TempFolder root_;
};

TEST_F(SiteTest, ServesAFile) {
  root_.Write("a b.txt", "hello");

  const Response response = Answer(Get("/a%20b.txt?query"));
  EXPECT_EQ(response.status(), 200);
  EXPECT_EQ(BodyOf(response), "hello");
  const std::string head = HeadOf(response);
  EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Length: 5\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Type: text/plain; charset=utf-8\r"));
  EXPECT_THAT(head, HasSubstr("\r\nETag: \""));
  EXPECT_THAT(head, HasSubstr("\r\nLast-Modified: "));
}

TEST_F(SiteTest, AddedPagesHideFiles) {
  root_.Write("a", "the file's");
  root_.Write("b", "");
  InlineOffload::Scope scope;
  Site site(*BlockOn(weft::fs::Dir::Open(root_.path())));
  site.AddPage("a", [] {
    Response response(200);
    response.SetText("text/plain", "the page's");
    return response;
  });

  EXPECT_EQ(BlockOn(site.Answer(Get("/a?x"))).text(), "the page's");
  EXPECT_EQ(BlockOn(site.Answer(Get("/b"))).status(), 200);
  EXPECT_EQ(BlockOn(site.Answer(Get("/a/c"))).status(), 404);
}

TEST_F(SiteTest, WhatIsMissingIsNotFound) {
  root_.Write("file", "");
  EXPECT_EQ(StatusOf("/nothing"), 404);
  EXPECT_EQ(StatusOf("/file/"), 404);
  EXPECT_EQ(StatusOf("/file/x"), 404);
  EXPECT_EQ(StatusOf("/" + std::string(300, 'n')), 404);
}

TEST_F(SiteTest, SendsToTheUrlOfAFolderWithSlash) {
  root_.MakeFolder("a \"b");
  const Response response = Answer(Get("//a%20%22b"));
  EXPECT_EQ(response.status(), 301);
  EXPECT_THAT(HeadOf(response), HasSubstr("\r\nLocation: /a%20%22b/\r\n"));
}

TEST_F(SiteTest, ServesTheIndexOfAFolder) {
  root_.MakeFolder("d");
  root_.Write("d/index.html", "<p>");

  const Response response = Answer(Get("/d/"));
  EXPECT_EQ(response.status(), 200);
  EXPECT_EQ(BodyOf(response), "<p>");
  EXPECT_THAT(HeadOf(response), HasSubstr("text/html"));
}

TEST_F(SiteTest, ListsAFolderWithoutIndex) {
  root_.MakeFolder("sub");
  root_.Write("<b>", "");
  root_.MakeFifo("fifo");

  const Response response = Answer(Get("/"));
  EXPECT_EQ(response.status(), 200);
  EXPECT_THAT(BodyOf(response), HasSubstr("href=\"sub/\""));
  EXPECT_THAT(BodyOf(response), HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(BodyOf(response), Not(HasSubstr("fifo")));
}

TEST_F(SiteTest, FolderInPlaceOfAnIndexIsListed) {
  root_.MakeFolder("index.html");
  EXPECT_THAT(BodyOf(Answer(Get("/"))), HasSubstr("href=\"index.html/\""));
}

TEST_F(SiteTest, NeverOpensWhatIsNeitherFileNorFolder) {
  root_.MakeFifo("fifo");
  root_.MakeFolder("d");
  root_.MakeFifo("d/index.html");
  EXPECT_EQ(StatusOf("/fifo"), 404);
  EXPECT_EQ(StatusOf("/d/"), 200);  // a listing
}

TEST_F(SiteTest, FollowsNoSymlinkOutOfTheRoot) {
  TempFolder outside;
  outside.Write("secret", "secret");
  root_.MakeSymlink("absolute", outside.PathOf("secret"));
  root_.MakeSymlink("relative", "../../../../../../../../etc/passwd");
  root_.MakeSymlink("folder", outside.path());
  root_.MakeSymlink("loop", "loop");
  for (const char* target : {"/absolute", "/relative", "/folder", "/folder/",
                             "/folder/secret", "/loop"}) {
    EXPECT_EQ(StatusOf(target), 404) << target;
  }
}

TEST_F(SiteTest, FollowsSymlinksInsideTheRoot) {
  root_.MakeFolder("d");
  root_.Write("d/file", "inside");
  root_.MakeSymlink("link", "d/file");
  root_.MakeSymlink("d/up", "../d/file");
  EXPECT_EQ(BodyOf(Answer(Get("/link"))), "inside");
  EXPECT_EQ(BodyOf(Answer(Get("/d/up"))), "inside");
}

TEST_F(SiteTest, RefusesUnsafeTargets) {
  for (const char* target : {"/..", "/%2e%2e/etc/passwd", "/a%2f..%2fb",
                             "/a%00", "*", "relative", "/%zz"}) {
    EXPECT_EQ(StatusOf(target), 400) << target;
  }
  EXPECT_EQ(StatusOf("/%252e%252e/etc/passwd"), 404);
  EXPECT_EQ(StatusOf("/..\\..\\etc"), 404);
}

TEST_F(SiteTest, AnswersOnlyGetAndHead) {
  Request request = Get("/");
  request.method = "HEAD";
  EXPECT_EQ(Answer(request).status(), 200);
  for (const char* method : {"POST", "DELETE", "OPTIONS", "get"}) {
    request.method = method;
    const Response response = Answer(request);
    EXPECT_EQ(response.status(), 405) << method;
    EXPECT_THAT(HeadOf(response), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
}

TEST_F(SiteTest, ChecksTheProtocol) {
  Request request = Get("/");
  request.major = 2;
  EXPECT_EQ(Answer(request).status(), 505);
  request = Get("/", "host", "another");
  EXPECT_EQ(Answer(request).status(), 400);
  request.fields.clear();
  EXPECT_EQ(Answer(request).status(), 400);
  request.minor = 0;
  EXPECT_EQ(Answer(request).status(), 200);
  request.error = 431;
  EXPECT_EQ(Answer(request).status(), 431);
}

TEST_F(SiteTest, SendsNothingTheClientHas) {
  root_.Write("file", "content");
  const std::string head = HeadOf(Answer(Get("/file")));
  const size_t etag = head.find("ETag: ") + 6;

  const Response response =
      Answer(Get("/file", "If-None-Match",
                 head.substr(etag, head.find("\r\n", etag) - etag)));
  EXPECT_EQ(response.status(), 304);
  EXPECT_EQ(response.body_size(), 0u);
  EXPECT_THAT(HeadOf(response), HasSubstr("ETag: "));
  EXPECT_THAT(HeadOf(response), Not(HasSubstr("Content-Length")));
  EXPECT_EQ(Answer(Get("/file", "If-None-Match", "\"x\"")).status(), 200);
}

TEST_F(SiteTest, SendsTheRangeAskedFor) {
  root_.Write("file", "0123456789");

  const Response response = Answer(Get("/file", "Range", "bytes=2-4"));
  EXPECT_EQ(response.status(), 206);
  EXPECT_EQ(BodyOf(response), "234");
  EXPECT_THAT(HeadOf(response),
              HasSubstr("\r\nContent-Range: bytes 2-4/10\r\n"));
  EXPECT_THAT(HeadOf(response), HasSubstr("\r\nContent-Length: 3\r\n"));

  const Response outside = Answer(Get("/file", "Range", "bytes=10-"));
  EXPECT_EQ(outside.status(), 416);
  EXPECT_THAT(HeadOf(outside), HasSubstr("\r\nContent-Range: bytes */10\r\n"));

  EXPECT_EQ(Answer(Get("/file", "Range", "lines=1-2")).status(), 200);
}

}  // namespace
}  // namespace http
