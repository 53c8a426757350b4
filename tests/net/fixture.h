// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of net share: a reactor and timers that the test's thread
// parks in, and an executor for tasks beside the one that is run.
#ifndef WEFT_TESTS_NET_FIXTURE_H_
#define WEFT_TESTS_NET_FIXTURE_H_

#include <dirent.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/io/reactor.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_listener.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/manual_executor.h"
#include "weft/timer/timers.h"

namespace weft::net {

// A reactor with timers around it, current while this lives.
class NetScope {
 public:
  NetScope()
      : reactor_(*io::Reactor::Create()),
        timers_(*reactor_),
        environment_(Make()),
        scope_(environment_) {}

  io::Reactor& reactor() { return *reactor_; }

  // Runs `future` on this thread, and the tasks of `executor` beside it. A
  // minute without an event ends the test.
  template <class F>
  OutputOf<F> Run(ManualExecutor& executor, F&& future) {
    return executor.Run(std::forward<F>(future), [this] { return Turn(); });
  }
  // Waits for an event; false after a minute without one.
  bool Turn() {
    const Instant deadline = Instant::Now() + absl::Minutes(1);
    timers_.Park(deadline);
    return Instant::Now() < deadline;
  }
  // Handles what is ready now.
  void Poll() { timers_.Park(Instant::Past()); }

 private:
  Environment Make() {
    Environment environment = Environment::Current();
    environment.driver = environment.timers = &timers_;
    environment.reactor = reactor_.get();
    return environment;
  }

  const std::unique_ptr<io::Reactor> reactor_;
  timer::Timers timers_;
  const Environment environment_;
  const EnvironmentScope scope_;
};

struct ConnectedPair {
  TcpStream client;
  TcpStream server;
};

class NetTest : public testing::Test {
 protected:
  template <class F>
  OutputOf<F> Run(F&& future) {
    return scope_.Run(executor_, std::forward<F>(future));
  }

  static TcpListener Listen(
      const SocketAddress& address = SocketAddress::Ipv4Loopback(0)) {
    absl::StatusOr<TcpListener> listener = TcpListener::Bind(address);
    WEFT_CHECK(listener.ok(), listener.status().ToString());
    return *std::move(listener);
  }

  // Both ends of a connection.
  ConnectedPair Connect() {
    TcpListener listener = Listen();
    absl::StatusOr<TcpStream> client =
        Run(TcpStream::Connect(listener.local_address()));
    WEFT_CHECK(client.ok(), client.status().ToString());
    absl::StatusOr<TcpStream> server = Run(listener.Accept());
    WEFT_CHECK(server.ok(), server.status().ToString());
    return ConnectedPair{*std::move(client), *std::move(server)};
  }

  NetScope scope_;
  ManualExecutor executor_;
};

// How many descriptors this process has open.
inline int OpenDescriptors() {
  DIR* dir = opendir("/proc/self/fd");
  int count = -3;  // ".", ".." and its own
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count;
}

// Bytes that tell where in the row they stand.
inline std::string Pattern(size_t size) {
  std::string pattern(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    pattern[i] = static_cast<char>(i * 7 + i / 251);
  }
  return pattern;
}

}  // namespace weft::net

#endif  // WEFT_TESTS_NET_FIXTURE_H_
