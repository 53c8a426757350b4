// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// That no client can stop the file server from serving the others.

#include <poll.h>

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

constexpr char kRequest[] = "GET /big HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr size_t kBig = 3 << 20;

class HttpFileServerRobustnessTest : public ::testing::Test {
 protected:
  HttpFileServerRobustnessTest() {
    root_.Write("big", std::string(kBig, 'b'));
    root_.Write("small", "small");
  }

  std::vector<std::string> Flags(std::vector<std::string> flags = {}) const {
    flags.push_back("--root=" + root_.path());
    return flags;
  }

  // The server answers a newcomer.
  static void ExpectServes(const ServerProcess& server) {
    RawClient client(server.port());
    const std::optional<RawResponse> response = client.Fetch("/small");
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->body, "small");
  }

  const TempFolder root_;
};

TEST_F(HttpFileServerRobustnessTest, ClientMayVanishAtEachByteOfARequest) {
  ServerProcess server(Flags());
  const std::string request = kRequest;
  for (size_t sent = 0; sent <= request.size(); ++sent) {
    for (const bool by_reset : {false, true}) {
      RawClient client(server.port());
      ASSERT_TRUE(client.Send(request.substr(0, sent)));
      if (by_reset) client.Reset();
    }
  }
  ExpectServes(server);
}

TEST_F(HttpFileServerRobustnessTest, ClientMayVanishAnywhereInAResponse) {
  ServerProcess server(Flags());
  for (size_t received = 1; received < kBig; received = received * 2 + 1) {
    for (const bool by_reset : {false, true}) {
      RawClient client(server.port(), 4096);
      ASSERT_TRUE(client.Send(kRequest));
      for (size_t rest = received; rest > 0;) {
        const std::string some = client.ReceiveSome(rest);
        ASSERT_FALSE(some.empty());
        rest -= some.size();
      }
      if (by_reset) client.Reset();
    }
  }
  ExpectServes(server);
}

TEST_F(HttpFileServerRobustnessTest, ClientMayVanishBetweenPipelinedResponses) {
  ServerProcess server(Flags());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += kRequest;
  for (int i = 0; i < 20; ++i) {
    RawClient client(server.port());
    ASSERT_TRUE(client.Send(requests));
    for (int j = 0; j < i % 3; ++j) ASSERT_TRUE(client.Receive().has_value());
    client.Reset();
  }
  ExpectServes(server);
}

TEST_F(HttpFileServerRobustnessTest, HeadThatTakesTooLongIsRefused) {
  ServerProcess server(Flags({"--head_timeout=200ms"}));
  RawClient client(server.port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHos"));
  const std::optional<RawResponse> response = client.Receive();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 408);
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST_F(HttpFileServerRobustnessTest, DripOfBytesBuysNoTime) {
  ServerProcess server(Flags({"--head_timeout=200ms"}));
  RawClient client(server.port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nX: "));
  int drops = 0;
  // Ends when the server has closed the connection.
  while (client.Send("x") && drops < 2000) {
    ++drops;
    poll(nullptr, 0, 5);
  }
  EXPECT_LT(drops, 2000);
  ExpectServes(server);
}

TEST_F(HttpFileServerRobustnessTest, SilentClientsAreClosed) {
  ServerProcess server(Flags({"--head_timeout=200ms", "--idle_timeout=300ms"}));
  RawClient silent(server.port());
  RawClient empty_lines(server.port());
  RawClient idle(server.port());
  ASSERT_TRUE(empty_lines.Send("\r\n\r\n"));
  ASSERT_TRUE(idle.Fetch("/small").has_value());
  EXPECT_TRUE(silent.IsClosedByServer());
  EXPECT_TRUE(empty_lines.IsClosedByServer());
  EXPECT_TRUE(idle.IsClosedByServer());
}

TEST_F(HttpFileServerRobustnessTest, ClientThatTakesNothingIsDropped) {
  ServerProcess server(Flags({"--send_timeout=200ms", "--max_connections=1"}));
  RawClient client(server.port(), 4096);
  ASSERT_TRUE(client.Send(std::string(kRequest) + kRequest + kRequest));
  ExpectServes(server);  // once the place is free
}

TEST_F(HttpFileServerRobustnessTest, FurtherConnectionsWaitForAPlace) {
  ServerProcess server(Flags({"--max_connections=2"}));
  RawClient first(server.port());
  auto second = std::make_unique<RawClient>(server.port());
  ASSERT_TRUE(first.Fetch("/small").has_value());
  ASSERT_TRUE(second->Fetch("/small").has_value());

  RawClient third(server.port());
  ASSERT_TRUE(third.Send("GET /small HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(first.Fetch("/small").has_value());
  second.reset();
  EXPECT_TRUE(third.Receive().has_value());
}

TEST_F(HttpFileServerRobustnessTest, SurvivesACrowdOfHalfRequests) {
  ServerProcess server(Flags({"--head_timeout=300ms"}));
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 200; ++i) {
    crowd.push_back(std::make_unique<RawClient>(server.port()));
    crowd.back()->Send("GET /small HTTP/1.1\r\nX");
  }
  ExpectServes(server);
  for (auto& client : crowd) {
    const std::optional<RawResponse> response = client->Receive();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 408);
  }
}

TEST_F(HttpFileServerRobustnessTest, FileThatShrinksEndsTheConnection) {
  ServerProcess server(Flags());
  RawClient client(server.port(), 4096);
  ASSERT_TRUE(client.Send(kRequest));
  ASSERT_FALSE(client.ReceiveSome(100).empty());
  root_.Write("big", "short");
  size_t received = 0;
  for (;;) {
    const std::string some = client.ReceiveSome(1 << 20);
    if (some.empty()) break;
    received += some.size();
  }
  EXPECT_LT(received, kBig + 1000);
  ExpectServes(server);
}

}  // namespace
}  // namespace weft::testing
