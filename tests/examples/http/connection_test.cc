// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/connection.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/dir.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/tests/examples/inline_offload.h"
#include "weft/tests/examples/scripted_stream.h"
#include "weft/tests/examples/temp_folder.h"
#include "weft/timer/fake_clock.h"

namespace http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::weft::testing::InlineOffload;
using ::weft::testing::ScriptedStream;
using ::weft::testing::TempFolder;

constexpr char kGetSmall[] = "GET /small HTTP/1.1\r\nHost: h\r\n\r\n";

size_t CountOf(std::string_view part, std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

// A served connection, on a clock that only the test moves.
class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() { executor_.RunUntilIdle(); }

  void Feed(std::string_view bytes) {
    peer_.Feed(bytes);
    executor_.RunUntilIdle();
  }
  void Take(size_t size) {
    peer_.Take(size);
    executor_.RunUntilIdle();
  }
  void Advance(absl::Duration d) {
    clock_.Advance(d);
    executor_.RunUntilIdle();
  }

  weft::Environment TestEnvironment() {
    weft::Environment environment = weft::Environment::Current();
    environment.clock = &clock_;
    return environment;
  }
  std::shared_ptr<Service> MakeService() {
    root_.Write("small", "small");
    root_.Write("big", std::string(1 << 20, 'b'));
    Site site(*weft::BlockOn(weft::fs::Dir::Open(root_.path())));
    return std::make_shared<Service>(std::move(site), Patience(),
                                     /*max_connections=*/1,
                                     /*log_fd=*/-1);
  }

  const TempFolder root_;
  weft::timer::FakeClock clock_;
  const weft::Environment environment_ = TestEnvironment();
  const weft::EnvironmentScope clock_scope_{environment_};
  const InlineOffload::Scope offload_scope_;
  const std::shared_ptr<Service> service_ = MakeService();
  ScriptedStream::Peer peer_;
  weft::ManualExecutor executor_;
  weft::JoinHandle<void> connection_ = executor_.Spawn(
      ServeConnection(ScriptedStream(peer_), "client", service_));
};

constexpr absl::Duration kMoment = absl::Milliseconds(1);

TEST_F(ConnectionTest, AnswersARequestAndWaitsForTheNext) {
  for (size_t i = 1; i <= 3; ++i) {
    Feed(kGetSmall);
    EXPECT_EQ(CountOf("\r\n\r\nsmall", peer_.written()), i);
  }
  EXPECT_FALSE(peer_.is_shut());
}

TEST_F(ConnectionTest, AnswersPipelinedRequestsHoweverTheyAreCut) {
  peer_.LimitReads(7);
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += kGetSmall;
  Feed(requests);
  EXPECT_EQ(CountOf("HTTP/1.1 200 OK\r\n", peer_.written()), 20u);
}

TEST_F(ConnectionTest, ReadsNoFurtherWhileAResponseIsNotTaken) {
  peer_.Take(100);
  std::string requests;
  for (int i = 0; i < 5000; ++i) requests += kGetSmall;
  Feed(requests);
  const size_t unread = peer_.unread();
  EXPECT_GT(unread, requests.size() - (16 << 10));

  Take(1000);
  EXPECT_GT(peer_.unread(), requests.size() - (16 << 10));
}

TEST_F(ConnectionTest, LargeFileIsSentAsItIsTaken) {
  peer_.Take(0);
  Feed("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  for (int i = 0; i < 200; ++i) Take(10000);
  EXPECT_THAT(peer_.written(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(peer_.written(),
              EndsWith("\r\n\r\n" + std::string(1 << 20, 'b')));
}

TEST_F(ConnectionTest, EndsAtTheEndOfItsStream) {
  Feed(kGetSmall);
  peer_.End();
  executor_.RunUntilIdle();
  EXPECT_TRUE(connection_.IsFinished());
  EXPECT_TRUE(peer_.is_closed());
}

TEST_F(ConnectionTest, AnswersWhatCameBeforeTheEnd) {
  peer_.End();
  Feed(std::string(kGetSmall) + kGetSmall);
  EXPECT_EQ(CountOf("\r\n\r\nsmall", peer_.written()), 2u);
  EXPECT_TRUE(connection_.IsFinished());
}

TEST_F(ConnectionTest, FirstRequestHasToComeSoon) {
  Advance(Patience().head - kMoment);
  EXPECT_FALSE(connection_.IsFinished());
  Advance(kMoment);
  EXPECT_TRUE(connection_.IsFinished());
  EXPECT_EQ(peer_.written(), "");
}

TEST_F(ConnectionTest, NextRequestMayTakeLonger) {
  Feed(kGetSmall);
  Advance(Patience().idle - kMoment);
  EXPECT_FALSE(connection_.IsFinished());
  Advance(kMoment);
  EXPECT_TRUE(connection_.IsFinished());
}

TEST_F(ConnectionTest, HeadThatTakesTooLongIsRefused) {
  Feed(kGetSmall);
  Advance(Patience().idle - kMoment);
  Feed("GET /");
  Advance(Patience().head - kMoment);
  Feed("small");  // buys no time
  EXPECT_FALSE(peer_.is_shut());
  Advance(kMoment);
  EXPECT_THAT(peer_.written(), HasSubstr("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_TRUE(peer_.is_shut());
}

TEST_F(ConnectionTest, ResponseThatIsNotTakenIsGivenUp) {
  peer_.Take(100);
  Feed("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  Advance(Patience().send - kMoment);
  Take(1);  // buys as much again
  Advance(Patience().send - kMoment);
  EXPECT_FALSE(connection_.IsFinished());
  Advance(kMoment);
  EXPECT_TRUE(connection_.IsFinished());
  EXPECT_TRUE(peer_.is_closed());
}

TEST_F(ConnectionTest, LastResponseIsFollowedByTheEnd) {
  Feed("GET /small HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer_.written(), EndsWith("\r\n\r\nsmall"));
  EXPECT_TRUE(peer_.is_shut());
  EXPECT_FALSE(peer_.is_closed());  // what the client still sends is read

  Feed(kGetSmall);
  EXPECT_EQ(peer_.unread(), 0u);
  EXPECT_EQ(CountOf("HTTP/1.1", peer_.written()), 1u);
  peer_.End();
  executor_.RunUntilIdle();
  EXPECT_TRUE(connection_.IsFinished());
}

TEST_F(ConnectionTest, ReadsAfterTheLastResponseForAWhileOnly) {
  Feed("BAD\x01\r\n");
  EXPECT_TRUE(peer_.is_shut());
  EXPECT_FALSE(connection_.IsFinished());
  Advance(absl::Seconds(3));
  EXPECT_TRUE(connection_.IsFinished());
}

TEST_F(ConnectionTest, ReadsAfterTheLastResponseHoweverThatIsCut) {
  peer_.LimitReads(1);
  Feed("BAD\x01\r\n" + std::string(1000, 'x'));
  EXPECT_FALSE(connection_.IsFinished());
  EXPECT_EQ(peer_.unread(), 0u);
}

TEST_F(ConnectionTest, ReadsAfterTheLastResponseOnlySoMuch) {
  Feed("BAD\x01\r\n" + std::string(10 << 20, 'x'));
  EXPECT_TRUE(connection_.IsFinished());
  EXPECT_GT(peer_.unread(), 9u << 20);
}

TEST_F(ConnectionTest, StoppingClosesWhatIsIdle) {
  Feed(std::string(kGetSmall) + "GET /sma");
  service_->stopping.Cancel();
  executor_.RunUntilIdle();
  EXPECT_TRUE(connection_.IsFinished());
  EXPECT_EQ(CountOf("HTTP/1.1", peer_.written()), 1u);
}

TEST_F(ConnectionTest, StoppingLetsAResponseFinish) {
  peer_.Take(100);
  Feed("GET /big HTTP/1.1\r\nHost: h\r\n\r\n" + std::string(kGetSmall) +
       kGetSmall);
  service_->stopping.Cancel();
  executor_.RunUntilIdle();
  EXPECT_FALSE(connection_.IsFinished());

  Take(2 << 20);
  EXPECT_EQ(CountOf("\r\n\r\nb", peer_.written()), 1u);
  // And so is the request that had come with it, but no further one.
  EXPECT_EQ(CountOf("\r\n\r\nsmall", peer_.written()), 1u);
  EXPECT_EQ(CountOf("\r\nConnection: close\r\n", peer_.written()), 1u);
  EXPECT_TRUE(peer_.is_shut());
}

TEST_F(ConnectionTest, StoppingAnswersTheRequestThatIsHere) {
  peer_.Feed(kGetSmall);
  service_->stopping.Cancel();
  executor_.RunUntilIdle();
  EXPECT_THAT(peer_.written(), EndsWith("\r\n\r\nsmall"));
  EXPECT_THAT(peer_.written(), HasSubstr("\r\nConnection: close\r\n"));
}

TEST_F(ConnectionTest, FileThatShrinksEndsTheConnection) {
  peer_.Take(70000);
  Feed("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  root_.Write("big", "short");
  Take(2 << 20);
  EXPECT_TRUE(connection_.IsFinished());
  EXPECT_LT(peer_.written().size(), 1u << 20);
}

}  // namespace
}  // namespace http
