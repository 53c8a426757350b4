// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedNetwork: a network in memory, for tests in a DeterministicExecutor: slow,
// lossy, partitioned, as its seed decides.
//
// Protocol code that takes any io::AsyncRead and io::AsyncWrite runs over its streams
// unchanged. Each packet is an event of the simulation: it takes its time, and what
// is due at the same moment happens in any order. Where writes and reads are cut is
// drawn, too, so whoever takes one read for one message is found out:
//
//   absl::Status Ping(DeterministicExecutor& executor) {
//     net::SimulatedNetwork network(executor, {.loss = 0.01});
//     executor.Spawn(Serve(*network.Listen("server", 80))).Detach();
//     return executor.Run(Call(network.Connect("client", "server", 80)));
//   }
//   EXPECT_EQ(Explore(10'000, Ping), std::nullopt);
//
// A host is a name, and exists by being named. Each pair of hosts is connected until
// a Partition(), through which nothing arrives: streams send again what was lost, at
// growing intervals, and go on some time after a Heal(), or time out.
//
// In the trace of the executor: "12 bytes from client:49152 to server:80", and
// ", lost" where they do not arrive.
//
// Thread safety: none; the thread that runs the executor.
// Lifetime: within the executor's. What it has made may outlive it, and then fails
// with ENETDOWN or as if it was closed.
// Dropping: of a pending Connect: gives the attempt up. A connection that was made
// meanwhile is reset.
#ifndef WEFT_NET_SIMULATED_NETWORK_H_
#define WEFT_NET_SIMULATED_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/net/simulated_connection.h"
#include "weft/net/simulated_datagram_socket.h"
#include "weft/net/simulated_listener.h"
#include "weft/net/simulated_network_options.h"
#include "weft/net/simulated_stream.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {

class SimulatedConnectFuture;

class SimulatedNetwork {
 public:
  using Options = SimulatedNetworkOptions;

  // Its numbers come from executor.random(): a seed of the executor is one of the
  // network.
  explicit SimulatedNetwork(DeterministicExecutor& executor,
                            const Options& options = {});
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  // Listens at a port (0: one that is free). Error: FailedPrecondition with
  // EADDRINUSE.
  absl::StatusOr<SimulatedListener> Listen(std::string host, uint16_t port);

  // Opens a socket for datagrams at a port (0: one that is free); ports of streams
  // are others. Error: FailedPrecondition with EADDRINUSE.
  absl::StatusOr<SimulatedDatagramSocket> Bind(std::string host, uint16_t port);

  // Connects from a free port of `from_host`. Ready when the connection is made, or
  // with the reason why not: Unavailable with ECONNREFUSED, after a packet there and
  // one back; DeadlineExceeded with ETIMEDOUT.
  SimulatedConnectFuture Connect(std::string from_host, std::string host,
                                 uint16_t port);

  // From now on nothing arrives between the two hosts, or from the one at the other.
  void Partition(const std::string& a, const std::string& b);
  void PartitionOneWay(const std::string& from, const std::string& to);
  // From now on everything arrives between them.
  void Heal(const std::string& a, const std::string& b);

  // The host loses everything: its listeners and sockets are closed, both ends of its
  // streams are reset, what it had sent by them and has not arrived never will. It may
  // be used again at once, as if it had started anew. Its tasks are not touched.
  void CrashHost(const std::string& host) { wire_.Crash(host); }

 private:
  net_internal::SimulatedWire wire_;
};

// See SimulatedNetwork::Connect. Movable also between polls.
class [[nodiscard]] SimulatedConnectFuture {
 public:
  using Output = absl::StatusOr<SimulatedStream>;
  static constexpr bool kMovableAfterPoll = true;

  SimulatedConnectFuture(SimulatedConnectFuture&&) noexcept = default;
  SimulatedConnectFuture& operator=(SimulatedConnectFuture&&) = delete;
  ~SimulatedConnectFuture();

  Polled<Output> Poll(Context& cx);

 private:
  friend SimulatedNetwork;

  explicit SimulatedConnectFuture(
      std::shared_ptr<net_internal::SimulatedEnd> end)
      : end_(std::move(end)) {}

  std::shared_ptr<net_internal::SimulatedEnd> end_;
};

}  // namespace weft::net

#endif  // WEFT_NET_SIMULATED_NETWORK_H_
