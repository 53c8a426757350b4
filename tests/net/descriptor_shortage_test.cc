// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server that runs out of descriptors: connections that are open go on, it
// does not spin, and takes new ones when there are descriptors again.

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/io/copy.h"
#include "weft/io/fd.h"
#include "weft/io/source.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_listener.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/tests/net/fixture.h"

namespace weft::net {
namespace {

constexpr rlim_t kDescriptors = 64;
constexpr int kClients = 100;
constexpr int kReleased = 20;

Task<void> Echo(TcpStream stream) {
  static_cast<void>(co_await io::Copy(stream, stream));
}

// Echoes on every connection; counts in `errors` how often accepting failed.
Task<void> Serve(TcpListener* listener, int* errors) {
  for (;;) {
    absl::StatusOr<TcpStream> stream = co_await listener->Accept();
    if (stream.ok()) {
      Spawn(Echo(*std::move(stream))).Detach();
    } else if (listener->IsClosed()) {
      co_return;
    } else {
      ++*errors;
    }
  }
}

// Closes the listener when `orders` ends.
Task<void> CloseAtEnd(TcpListener* listener, int orders) {
  absl::StatusOr<io::Source> source = io::Source::Create(io::Fd(orders));
  if (source.ok()) {
    static_cast<void>(co_await source->Readable());
  }
  listener->Close();
}

// The server process: serves until `orders` ends, then writes to `report` how
// many errors there were.
[[noreturn]] void RunServer(TcpListener listener, int orders, int report) {
  const rlimit limit = {kDescriptors, kDescriptors};
  setrlimit(RLIMIT_NOFILE, &limit);
  NetScope scope;
  ManualExecutor executor;
  int errors = 0;
  auto closing = executor.SpawnBorrowing(CloseAtEnd(&listener, orders));
  scope.Run(executor, Serve(&listener, &errors));
  const bool told = write(report, &errors, sizeof(errors)) == sizeof(errors);
  _exit(told ? 0 : 1);
}

io::Fd ConnectTo(const SocketAddress& address) {
  io::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(fd.get(), address.data(), address.size()), 0);
  return fd;
}

// Sends a byte and waits until it comes back. False if it does not.
bool IsServed(const io::Fd& client, absl::Duration patience) {
  char byte = 'x';
  if (send(client.get(), &byte, 1, MSG_NOSIGNAL) != 1) return false;
  pollfd wait = {client.get(), POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(patience / absl::Milliseconds(1))) ==
             1 &&
         recv(client.get(), &byte, 1, 0) == 1;
}

absl::Duration CpuTimeOf(pid_t process) {
  clockid_t clock;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) == 0) clock_gettime(clock, &time);
  return absl::DurationFromTimespec(time);
}

TEST(DescriptorShortageTest, AServerSurvivesIt) {
  std::array<int, 2> orders, report;
  ASSERT_EQ(pipe(orders.data()), 0);
  ASSERT_EQ(pipe(report.data()), 0);
  absl::StatusOr<TcpListener> listener =
      TcpListener::Bind(SocketAddress::Ipv4Loopback(0));
  ASSERT_TRUE(listener.ok()) << listener.status();
  const SocketAddress address = listener->local_address();
  const pid_t server = fork();
  ASSERT_GE(server, 0);
  if (server == 0) {
    close(orders[1]);
    close(report[0]);
    RunServer(*std::move(listener), orders[0], report[1]);
  }
  io::Fd stop(orders[1]), errors_from(report[0]);
  close(orders[0]);
  close(report[1]);
  {
    TcpListener ours = *std::move(listener);
  }

  // Echoing works, and fills the table of descriptors.
  const io::Fd early = ConnectTo(address);
  EXPECT_TRUE(IsServed(early, absl::Seconds(30)));
  std::vector<io::Fd> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(ConnectTo(address));
  EXPECT_TRUE(IsServed(clients[0], absl::Seconds(30)));
  EXPECT_FALSE(IsServed(clients.back(), absl::Milliseconds(200)));

  // For two seconds nothing gets better.
  const absl::Duration cpu_before = CpuTimeOf(server);
  const Instant start = Instant::Now();
  int echoes = 0;
  while (Instant::Now() - start < absl::Seconds(2)) {
    ASSERT_TRUE(IsServed(early, absl::Seconds(30)));
    ++echoes;
    poll(nullptr, 0, 10);
  }
  const absl::Duration cpu = CpuTimeOf(server) - cpu_before;
  EXPECT_LT(cpu, absl::Milliseconds(400)) << "the server spins";
  EXPECT_GT(echoes, 20);

  // Descriptors are free again.
  clients.erase(clients.begin(), clients.begin() + kReleased);
  EXPECT_TRUE(IsServed(clients[kDescriptors - kReleased], absl::Seconds(30)));

  stop.Reset();
  int errors = 0;
  EXPECT_EQ(read(errors_from.get(), &errors, sizeof(errors)),
            static_cast<ssize_t>(sizeof(errors)));
  EXPECT_GT(errors, 0);
  EXPECT_LT(errors, 200);
  int result = 0;
  ASSERT_EQ(waitpid(server, &result, 0), server);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
}

}  // namespace
}  // namespace weft::net
