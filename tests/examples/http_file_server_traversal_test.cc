// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// That nothing outside of the root is ever served.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "weft/tests/examples/raw_client.h"
#include "weft/tests/examples/server_process.h"
#include "weft/tests/examples/temp_folder.h"

namespace weft::testing {
namespace {

constexpr char kSecret[] = "this is the secret";

// A root with a secret beside it.
class HttpFileServerTraversalTest : public ::testing::Test {
 protected:
  HttpFileServerTraversalTest() {
    folder_.MakeFolder("root");
    folder_.MakeFolder("root/sub");
    folder_.Write("root/file", "inside");
    folder_.Write("root/sub/file", "inside");
    folder_.Write("secret", kSecret);
    folder_.MakeFolder("rootless");
    folder_.Write("rootless/secret", kSecret);
  }

  std::string RootFlag() const { return "--root=" + folder_.PathOf("root"); }

  const TempFolder folder_;
};

TEST_F(HttpFileServerTraversalTest, NoSpellingLeadsOut) {
  std::vector<std::string> targets;
  const std::string outside = folder_.PathOf("secret");
  // Ways to write a dot, a slash and a pair of dots.
  for (const std::string up :
       {"..", "%2e%2e", ".%2e", "%2E.", "%252e%252e", "..%00", "%00..", "...",
        "..;", "%c0%ae%c0%ae", "%u002e%u002e", "..%20", "..%09"}) {
    for (const std::string slash : {"/", "%2f", "%2F", "%252f", "\\", "%5c",
                                    "%255c", "//", "/./", "%c0%af"}) {
      targets.push_back("/" + up + slash + "secret");
      targets.push_back("/sub" + slash + up + slash + up + slash + "secret");
      targets.push_back("/sub/" + up + "/" + up + slash + "secret");
      targets.push_back(up + slash + "secret");
      targets.push_back("/" + up + slash + "rootless/secret");
      targets.push_back("/" + up + "less" + slash + "secret");
    }
  }
  for (const std::string& prefix :
       {std::string(), std::string("/"), std::string("//"), std::string("/%2f"),
        std::string("http://h"), std::string("http://h/"),
        std::string("file://"), std::string("/\\"), std::string("\\")}) {
    targets.push_back(prefix + outside);
    targets.push_back(prefix + outside + "%00.html");
  }
  targets.push_back("http://h/../secret");
  targets.push_back("http://../secret");
  targets.push_back("/?/../secret");
  targets.push_back("/..?x");
  targets.push_back("/file/../../secret");

  ServerProcess server({RootFlag()});
  auto client = std::make_unique<RawClient>(server.port());
  for (const std::string& target : targets) {
    const std::optional<RawResponse> response = client->Fetch(target);
    ASSERT_TRUE(response.has_value()) << target;
    EXPECT_EQ(response->body.find(kSecret), std::string::npos) << target;
    EXPECT_TRUE(response->status == 400 || response->status == 404 ||
                target.find('?') != std::string::npos)
        << target << ": " << response->status;
    if (response->Field("connection") == "close") {
      client = std::make_unique<RawClient>(server.port());
    }
  }
  EXPECT_EQ(client->Fetch("/file")->body, "inside");
}

TEST_F(HttpFileServerTraversalTest, RawNulLeadsNowhere) {
  ServerProcess server({RootFlag()});
  using std::string_literals::operator""s;
  for (const std::string& target :
       {"/\0../secret"s, "/../secret\0"s, "/file\0/../../secret"s}) {
    RawClient client(server.port());
    const std::optional<RawResponse> response = client.Fetch(target);
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 400);
  }
}

TEST_F(HttpFileServerTraversalTest, NoSymlinkLeadsOut) {
  folder_.MakeSymlink("root/absolute", folder_.PathOf("secret"));
  folder_.MakeSymlink("root/relative", "../secret");
  folder_.MakeSymlink("root/parent", "..");
  folder_.MakeSymlink("root/twice", "relative");
  folder_.MakeSymlink("root/slash", "/");
  folder_.MakeSymlink("root/sub/index.html", "../../secret");
  folder_.MakeSymlink("root/magic", "/proc/self/root");
  folder_.MakeSymlink("root/around", "../root/file");
  ServerProcess server({RootFlag()});
  RawClient client(server.port());
  for (const std::string target :
       {"/absolute", "/relative", "/parent/secret", "/twice", "/slash/",
        "/slash/etc/passwd", "/magic/etc/passwd", "/parent/", "/parent",
        "/sub/index.html", "/around"}) {
    const std::optional<RawResponse> response = client.Fetch(target);
    ASSERT_TRUE(response.has_value()) << target;
    EXPECT_EQ(response->status, 404) << target;
  }
  EXPECT_EQ(client.Fetch("/sub/")->body.find(kSecret), std::string::npos);
}

TEST_F(HttpFileServerTraversalTest, SymlinkThatIsExchangedNeverLeadsOut) {
  ServerProcess server({RootFlag()});
  RawClient client(server.port());
  folder_.MakeSymlink("root/in", "file");
  folder_.MakeSymlink("root/out", "../secret");
  folder_.MakeSymlink("root/link", "file");
  for (int i = 0; i < 200; ++i) {
    folder_.Rename(i % 2 == 0 ? "root/out" : "root/in", "root/link");
    const std::optional<RawResponse> response = client.Fetch("/link");
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->body.find(kSecret), std::string::npos);
    folder_.MakeSymlink(i % 2 == 0 ? "root/out" : "root/in",
                        i % 2 == 0 ? "../secret" : "file");
  }
}

TEST_F(HttpFileServerTraversalTest, RedirectStaysOnThisServer) {
  folder_.MakeFolder("root/evil.example");
  ServerProcess server({RootFlag()});
  RawClient client(server.port());
  for (const std::string target :
       {"//evil.example", "///evil.example", "http://other//evil.example"}) {
    EXPECT_EQ(client.Fetch(target)->Field("location"), "/evil.example/")
        << target;
  }
}

TEST_F(HttpFileServerTraversalTest, FifoIsNotFoundAndBlocksNobody) {
  folder_.MakeFifo("root/fifo");
  ServerProcess server({RootFlag(), "--threads=1"});
  RawClient client(server.port());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.Fetch("/fifo")->status, 404);
  EXPECT_EQ(client.Fetch("/file")->status, 200);
}

}  // namespace
}  // namespace weft::testing
