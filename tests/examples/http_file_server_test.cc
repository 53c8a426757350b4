// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the file server answers, over real sockets.

#include <signal.h>
#include <stdlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/tests/examples/raw_client.h"
#include "weft/tests/examples/server_process.h"
#include "weft/tests/examples/temp_folder.h"

namespace weft::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Bytes that differ from one another's neighbourhood.
std::string SomeBytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

std::string Get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

class HttpFileServerTest : public ::testing::Test {
 protected:
  static std::string RootFlag(const TempFolder& root) {
    return "--root=" + root.path();
  }

  const TempFolder root_;
};

TEST_F(HttpFileServerTest, FirstLineSaysWhereItListens) {
  ServerProcess server({RootFlag(root_)});
  ASSERT_NE(server.port(), 0);
  EXPECT_EQ(server.Output(), "listening on http://127.0.0.1:" +
                                 std::to_string(server.port()) + "/\n");
  EXPECT_TRUE(RawClient(server.port()).IsConnected());
}

TEST_F(HttpFileServerTest, ServesFilesOfAllSizes) {
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  for (const size_t size :
       {0, 1, 1000, 8191, 8192, 65535, 65536, 65537, 1000000, 5000000}) {
    const std::string content = SomeBytes(size);
    root_.Write("file", content);

    const std::optional<RawResponse> response = client.Fetch("/file");
    ASSERT_TRUE(response.has_value()) << size;
    EXPECT_EQ(response->status, 200);
    EXPECT_TRUE(response->body == content) << size;
    EXPECT_EQ(response->Field("content-type"), "application/octet-stream");
  }
}

TEST_F(HttpFileServerTest, KeepsTheConnectionForHundredsOfRequests) {
  for (int i = 0; i < 10; ++i) {
    root_.Write(std::to_string(i), SomeBytes(static_cast<size_t>(i) * 3001));
  }
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  for (int i = 0; i < 500; ++i) {
    const std::optional<RawResponse> response =
        client.Fetch("/" + std::to_string(i % 12));
    ASSERT_TRUE(response.has_value()) << i;
    EXPECT_EQ(response->status, i % 12 < 10 ? 200 : 404) << i;
    if (i % 12 < 10) {
      EXPECT_EQ(response->body.size(), static_cast<size_t>(i % 12) * 3001);
    }
    EXPECT_EQ(response->Field("connection"), "keep-alive");
  }
}

TEST_F(HttpFileServerTest, AnswersPipelinedRequestsInTheirOrder) {
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    root_.Write(std::to_string(i), "content of " + std::to_string(i));
    requests += Get("/" + std::to_string(i));
  }
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());

  ASSERT_TRUE(client.Send(requests));
  client.ShutdownWrite();
  for (int i = 0; i < 200; ++i) {
    const std::optional<RawResponse> response = client.Receive();
    ASSERT_TRUE(response.has_value()) << i;
    EXPECT_EQ(response->body, "content of " + std::to_string(i));
  }
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST_F(HttpFileServerTest, ServesManyConnectionsAtOnce) {
  const std::string content = SomeBytes(100000);
  root_.Write("file", content);
  ServerProcess server({RootFlag(root_), "--threads=2"});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    ASSERT_TRUE(clients.back()->Send(Get("/file") + Get("/file")));
  }
  for (auto& client : clients) {
    for (int i = 0; i < 2; ++i) {
      const std::optional<RawResponse> response = client->Receive();
      ASSERT_TRUE(response.has_value());
      EXPECT_TRUE(response->body == content);
    }
  }
}

TEST_F(HttpFileServerTest, RequestMayComeByteByByte) {
  root_.Write("file", "content");
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  for (int round = 0; round < 2; ++round) {
    for (const char c : Get("/file")) {
      ASSERT_TRUE(client.Send(std::string_view(&c, 1)));
    }
    const std::optional<RawResponse> response = client.Receive();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->body, "content");
  }
}

TEST_F(HttpFileServerTest, HeadIsAnsweredWithoutBody) {
  root_.Write("file", "content");
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  for (const std::string target : {"/file", "/", "/missing"}) {
    const std::optional<RawResponse> head = client.Fetch(target, "", "HEAD");
    const std::optional<RawResponse> get = client.Fetch(target);
    ASSERT_TRUE(head.has_value() && get.has_value()) << target;
    EXPECT_EQ(head->status, get->status);
    EXPECT_EQ(head->Field("content-length"), get->Field("content-length"));
    EXPECT_EQ(head->Field("etag"), get->Field("etag"));
  }
}

TEST_F(HttpFileServerTest, ClosesWhenAskedTo) {
  root_.Write("file", "content");
  ServerProcess server({RootFlag(root_)});
  for (const std::string request :
       {"GET /file HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        "GET /file HTTP/1.0\r\n\r\n"}) {
    RawClient client(server.port());
    ASSERT_TRUE(client.Send(request + Get("/file")));
    const std::optional<RawResponse> response = client.Receive();
    ASSERT_TRUE(response.has_value()) << request;
    EXPECT_EQ(response->body, "content");
    EXPECT_EQ(response->Field("connection"), "close");
    EXPECT_TRUE(client.IsClosedByServer()) << request;
  }
}

TEST_F(HttpFileServerTest, Http10KeepsTheConnectionOnlyOnRequest) {
  root_.Write("file", "content");
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  for (int i = 0; i < 2; ++i) {
    client.Send("GET /file HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const std::optional<RawResponse> response = client.Receive();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->Field("connection"), "keep-alive");
  }
}

TEST_F(HttpFileServerTest, RefusesBadRequestsAndCloses) {
  ServerProcess server({RootFlag(root_)});
  struct Case {
    std::string request;
    int status;
  };
  const std::vector<Case> cases = {
      {"nonsense\r\n\r\n", 501},
      {std::string("\0\1\2\3", 4), 400},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400},
      {"GET /" + std::string(10000, 'a') + " HTTP/1.1\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nX: " + std::string(40000, 'a') + "\r\n\r\n", 431},
  };
  for (const Case& c : cases) {
    RawClient client(server.port());
    client.Send(c.request);
    const std::optional<RawResponse> response = client.Receive();
    ASSERT_TRUE(response.has_value()) << c.request.substr(0, 40);
    EXPECT_EQ(response->status, c.status) << c.request.substr(0, 40);
    EXPECT_TRUE(client.IsClosedByServer());
  }
}

TEST_F(HttpFileServerTest, RefusesOneRequestAndTakesTheNext) {
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  EXPECT_EQ(client.Fetch("/", "", "DELETE")->status, 405);
  EXPECT_EQ(client.Fetch("/missing")->status, 404);
  EXPECT_EQ(client.Fetch("/%zz")->status, 400);
  EXPECT_EQ(client.Fetch("/", "Host: two\r\n")->status, 400);
  EXPECT_EQ(client.Fetch("/")->status, 200);
}

TEST_F(HttpFileServerTest, ClientThatSendsABodyStillGetsTheAnswer) {
  ServerProcess server({RootFlag(root_)});
  const std::string body(100000, 'b');
  RawClient client(server.port());
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" +
              body);
  const std::optional<RawResponse> response = client.Receive();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 405);
  EXPECT_EQ(response->Field("allow"), "GET, HEAD");
  EXPECT_EQ(response->Field("connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST_F(HttpFileServerTest, BodyIsNotTakenForARequest) {
  ServerProcess server({RootFlag(root_)});
  const std::string smuggled = Get("/smuggled");
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: " +
              std::to_string(smuggled.size()) + "\r\n\r\n" + smuggled);
  ASSERT_TRUE(client.Receive().has_value());
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST_F(HttpFileServerTest, AnswersConditionsAndRanges) {
  root_.Write("file", "0123456789");
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  const std::optional<RawResponse> whole = client.Fetch("/file");
  ASSERT_TRUE(whole.has_value());

  const std::string etag = whole->Field("etag");
  EXPECT_EQ(client.Fetch("/file", "If-None-Match: " + etag + "\r\n")->status,
            304);
  const std::string date = whole->Field("last-modified");
  EXPECT_EQ(
      client.Fetch("/file", "If-Modified-Since: " + date + "\r\n")->status,
      304);
  const std::optional<RawResponse> part =
      client.Fetch("/file", "Range: bytes=-3\r\n");
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, "789");
}

TEST_F(HttpFileServerTest, ListsRedirectsAndFindsTheIndex) {
  root_.MakeFolder("d");
  root_.Write("d/<x>&.txt", "");
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  EXPECT_EQ(client.Fetch("/d")->Field("location"), "/d/");
  EXPECT_THAT(client.Fetch("/d/")->body, HasSubstr("&lt;x&gt;&amp;.txt"));
  EXPECT_THAT(client.Fetch("/d/")->body, Not(HasSubstr("<x>")));
  root_.Write("d/index.html", "<p>");
  EXPECT_EQ(client.Fetch("/d/")->body, "<p>");
}

TEST_F(HttpFileServerTest, RootMayBeRelativeToTheCallersFolder) {
  root_.MakeFolder("below");
  root_.Write("below/file", "content");
  setenv("BUILD_WORKING_DIRECTORY", root_.path().c_str(), 1);
  ServerProcess server({"--root=below"});
  unsetenv("BUILD_WORKING_DIRECTORY");
  RawClient client(server.port());
  EXPECT_EQ(client.Fetch("/file")->body, "content");
}

TEST_F(HttpFileServerTest, LogsEachRequestOnStandardError) {
  root_.Write("file", "content");
  ServerProcess server({RootFlag(root_)});
  RawClient client(server.port());
  client.Fetch("/file");
  client.Fetch("/%22%0a");
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(absl::Seconds(20)), 0);
  EXPECT_THAT(server.Errors(), HasSubstr("] \"GET /file HTTP/1.1\" 200 7\n"));
  EXPECT_THAT(server.Errors(), HasSubstr("] \"GET /%22%0a HTTP/1.1\" 404 "));
}

TEST_F(HttpFileServerTest, SaysWhyItDoesNotStart) {
  ServerProcess first({RootFlag(root_)});
  struct Case {
    std::vector<std::string> flags;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--no_such_flag=1"}, "no_such_flag"},
      {{"--port=70000"}, "70000"},
      {{"--threads=-1"}, "--threads"},
      {{"--max_connections=0"}, "--max_connections"},
      {{"stray"}, "stray"},
      {{"--root=/no/such/folder"}, "/no/such/folder"},
      {{"--root=/etc/passwd"}, "/etc/passwd"},
      {{RootFlag(root_), "--bind=not an address"}, "not an address"},
      {{RootFlag(root_), "--port=" + std::to_string(first.port())},
       std::to_string(first.port())},
  };
  for (const Case& c : cases) {
    ServerProcess server(c.flags);
    const std::optional<int> code = server.Wait(absl::Seconds(20));
    ASSERT_TRUE(code.has_value()) << c.message;
    EXPECT_TRUE(*code == 1 || *code == 2) << c.message << ": " << *code;
    EXPECT_EQ(server.Output(), "") << c.message;
    EXPECT_THAT(server.Errors(), HasSubstr(c.message));
    EXPECT_THAT(server.Errors(), EndsWith("\n"));
  }
}

}  // namespace
}  // namespace weft::testing
