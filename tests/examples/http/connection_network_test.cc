// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The server's connection over a simulated network, whatever that does to it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "weft/examples/http/connection.h"
#include "weft/examples/http/service.h"
#include "weft/examples/http/site.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/explore.h"
#include "weft/fs/dir.h"
#include "weft/io/write_all.h"
#include "weft/net/simulated_listener.h"
#include "weft/net/simulated_network.h"
#include "weft/net/simulated_stream.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/tests/examples/temp_folder.h"
#include "weft/tests/net/simulated_talk.h"

namespace http {
namespace {

using ::weft::DeterministicExecutor;
using ::weft::Explore;
using ::weft::JoinHandle;
using ::weft::Task;
using ::weft::net::SimulatedListener;
using ::weft::net::SimulatedNetwork;
using ::weft::net::SimulatedStream;
using ::weft::testing::TempFolder;

constexpr uint64_t kSeeds = 200;

size_t CountOf(std::string_view part, std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

Task<> ServeAll(SimulatedListener& listener, std::shared_ptr<Service> service) {
  for (;;) {
    absl::StatusOr<SimulatedStream> stream = co_await listener.Accept();
    if (!stream.ok()) co_return;
    std::string client = stream->peer_address();
    weft::Spawn(ServeConnection(*std::move(stream), std::move(client), service))
        .Detach();
  }
}

// What the server says to `requests`, to its end.
Task<absl::StatusOr<std::string>> Ask(SimulatedNetwork& network,
                                      std::string requests) {
  absl::StatusOr<SimulatedStream> stream =
      co_await network.Connect("client", "server", 80);
  if (!stream.ok()) co_return stream.status();
  const absl::Status sent = co_await weft::io::WriteAll(*stream, requests);
  if (!sent.ok()) co_return sent;
  co_return co_await weft::net::ReceiveAll(*stream);
}

// Two clients say `requests`; `is_right` looks at the answers.
absl::Status AskTwice(DeterministicExecutor& executor, const TempFolder& root,
                      const std::string& requests,
                      bool (*is_right)(std::string_view answers)) {
  SimulatedNetwork network(executor, {.loss = 0.02, .window = 2000});
  SimulatedListener listener = *network.Listen("server", 80);
  absl::StatusOr<weft::fs::Dir> dir =
      executor.Run(weft::fs::Dir::Open(root.path()));
  if (!dir.ok()) return dir.status();
  auto service =
      std::make_shared<Service>(Site(*std::move(dir)), Patience(),
                                /*max_connections=*/2, /*log_fd=*/-1);
  const JoinHandle<> server =
      executor.SpawnBorrowing(ServeAll(listener, std::move(service)));
  std::vector<JoinHandle<absl::StatusOr<std::string>>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(executor.SpawnBorrowing(Ask(network, requests)));
  }
  for (JoinHandle<absl::StatusOr<std::string>>& client : clients) {
    const absl::StatusOr<std::string> answers = executor.Run(client);
    if (!answers.ok()) return answers.status();
    if (!is_right(*answers)) return absl::DataLossError(*answers);
  }
  listener.Close();
  const absl::Status idle = executor.RunUntilIdle();
  if (!idle.ok()) return idle;
  return executor.live() == 0 ? absl::OkStatus()
                              : absl::InternalError("a connection is left");
}

TEST(ConnectionNetworkTest, AnswersPipelinedRequestsInOrder) {
  const TempFolder root;
  root.Write("small", "small");
  root.Write("large", std::string(10'000, 'x'));
  const std::string requests =
      "GET /small HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /large HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(Explore(kSeeds,
                    [&](DeterministicExecutor& executor) {
                      return AskTwice(
                          executor, root, requests, [](std::string_view text) {
                            const size_t small = text.find("\r\n\r\nsmall");
                            const size_t none = text.find("HTTP/1.1 404");
                            return CountOf("HTTP/1.1 200 OK", text) == 2 &&
                                   CountOf("x", text) >= 10'000 &&
                                   small < none && none != text.npos;
                          });
                    }),
            std::nullopt);
}

// Closing with unread bytes would reset the connection, and the answer might be
// lost with it.
TEST(ConnectionNetworkTest, ARequestWhoseBodyIsNotReadIsAnswered) {
  const TempFolder root;
  const std::string request =
      absl::StrCat("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n",
                   std::string(9000, 'b'));
  EXPECT_EQ(Explore(kSeeds,
                    [&](DeterministicExecutor& executor) {
                      return AskTwice(
                          executor, root, request, [](std::string_view text) {
                            return CountOf("HTTP/1.1 405", text) == 1;
                          });
                    }),
            std::nullopt);
}

}  // namespace
}  // namespace http
