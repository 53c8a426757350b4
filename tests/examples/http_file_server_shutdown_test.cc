// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How the file server ends.

#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/tests/examples/raw_client.h"
#include "weft/tests/examples/server_process.h"
#include "weft/tests/examples/temp_folder.h"

namespace weft::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr size_t kBig = 8 << 20;

class HttpFileServerShutdownTest : public ::testing::Test {
 protected:
  HttpFileServerShutdownTest() {
    root_.Write("big", std::string(kBig, 'b'));
    root_.Write("small", "small");
  }

  std::vector<std::string> Flags(std::vector<std::string> flags = {}) const {
    flags.push_back("--root=" + root_.path());
    return flags;
  }

  // Until the server has said that it is stopping.
  static void AwaitStopping(const ServerProcess& server) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (server.Errors().find("stopping") == std::string::npos) {
      ASSERT_LT(absl::Now(), deadline);
    }
  }

  // Has a response of the server's in flight, and has received some of it.
  static void StartBig(RawClient& client, std::string& received) {
    ASSERT_TRUE(client.Send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n"));
    received = client.ReceiveSome(1000);
    ASSERT_FALSE(received.empty());
  }

  const TempFolder root_;
};

TEST_F(HttpFileServerShutdownTest, IdleServerEndsAtOnce) {
  for (const int signal : {SIGINT, SIGTERM}) {
    ServerProcess server(Flags());
    server.Signal(signal);
    EXPECT_EQ(server.Wait(kPatience), 0) << signal;
  }
}

TEST_F(HttpFileServerShutdownTest, SignalsThatWereIgnoredAtStartEndItToo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    ServerProcess server(Flags(), ServerProcess::Signals::kIgnored);
    server.Signal(signal);
    EXPECT_EQ(server.Wait(kPatience), 0) << signal;
  }
}

TEST_F(HttpFileServerShutdownTest, IdleConnectionsAreClosed) {
  ServerProcess server(Flags({"--shutdown_deadline=1h"}));
  RawClient idle(server.port());
  RawClient silent(server.port());
  RawClient half(server.port());
  ASSERT_TRUE(idle.Fetch("/small").has_value());
  ASSERT_TRUE(half.Send("GET /sm"));

  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(kPatience), 0);
  EXPECT_TRUE(idle.IsClosedByServer());
  EXPECT_TRUE(silent.IsClosedByServer());
  EXPECT_TRUE(half.IsClosedByServer());
}

TEST_F(HttpFileServerShutdownTest, ResponseInFlightIsFinished) {
  ServerProcess server(Flags({"--shutdown_deadline=1h"}));
  RawClient client(server.port(), 4096);
  std::string received;
  StartBig(client, received);

  server.Signal(SIGTERM);
  AwaitStopping(server);
  EXPECT_FALSE(RawClient(server.port()).IsConnected());
  for (;;) {
    const std::string some = client.ReceiveSome(1 << 20);
    if (some.empty()) break;
    received += some;
  }
  const size_t head = received.find("\r\n\r\n") + 4;
  EXPECT_EQ(received.size() - head, kBig);
  EXPECT_EQ(server.Wait(kPatience), 0);
}

TEST_F(HttpFileServerShutdownTest, DeadlineEndsResponsesThatTakeTooLong) {
  ServerProcess server(Flags({"--shutdown_deadline=200ms"}));
  RawClient client(server.port(), 4096);
  std::string received;
  StartBig(client, received);

  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(kPatience), 0);
}

TEST_F(HttpFileServerShutdownTest, SecondSignalEndsItAtOnce) {
  ServerProcess server(Flags({"--shutdown_deadline=1h"}));
  RawClient client(server.port(), 4096);
  std::string received;
  StartBig(client, received);

  server.Signal(SIGTERM);
  AwaitStopping(server);
  EXPECT_EQ(server.Wait(absl::Milliseconds(100)), std::nullopt);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(kPatience), 128 + SIGTERM);
}

TEST_F(HttpFileServerShutdownTest, LogThatNobodyReadsHoldsNothingUp) {
  ServerProcess server(Flags(), ServerProcess::Signals::kDefault,
                       ServerProcess::StandardError::kStuckPipe);
  RawClient client(server.port());
  // More lines than a pipe holds.
  for (int i = 0; i < 1200; ++i) {
    ASSERT_TRUE(client.Fetch("/small").has_value()) << i;
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(kPatience), 0);
}

}  // namespace
}  // namespace weft::testing
