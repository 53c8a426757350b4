// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_network.h"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/io/io_result.h"
#include "weft/net/simulated_connection.h"
#include "weft/net/simulated_datagram_socket.h"
#include "weft/net/simulated_listener.h"
#include "weft/net/simulated_mailbox.h"
#include "weft/net/simulated_port.h"
#include "weft/net/simulated_stream.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::net {

using net_internal::SimulatedAddress;
using net_internal::SimulatedMailbox;
using net_internal::SimulatedPort;
using net_internal::SimulatedPorts;
using net_internal::SimulatedWire;

namespace {

// As many as Linux chooses from by itself.
constexpr int kPortsToTry = 16'384;

// The address; for port 0 with a port that is free in `ports`, if there is one.
template <class Owner>
SimulatedAddress Complete(SimulatedWire& wire,
                          const SimulatedPorts<Owner>& ports, std::string host,
                          uint16_t port) {
  SimulatedAddress address = {std::move(host), port};
  if (port != 0) return address;
  for (int i = 0; i < kPortsToTry; ++i) {
    address.port = wire.PickPort(address.host);
    if (ports.At(address) == nullptr) break;
  }
  return address;
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(DeterministicExecutor& executor,
                                   const Options& options)
    : wire_(executor, options) {}

absl::StatusOr<SimulatedListener> SimulatedNetwork::Listen(std::string host,
                                                           uint16_t port) {
  const SimulatedAddress address =
      Complete(wire_, wire_.acceptors(), std::move(host), port);
  std::shared_ptr<SimulatedPort> opened = SimulatedPort::Open(wire_, address);
  if (opened == nullptr) {
    return ErrnoStatus(EADDRINUSE, absl::StrCat("listen ", address.ToString()));
  }
  return SimulatedListener(std::move(opened));
}

absl::StatusOr<SimulatedDatagramSocket> SimulatedNetwork::Bind(std::string host,
                                                               uint16_t port) {
  const SimulatedAddress address =
      Complete(wire_, wire_.mailboxes(), std::move(host), port);
  std::shared_ptr<SimulatedMailbox> opened =
      SimulatedMailbox::Open(wire_, address);
  if (opened == nullptr) {
    return ErrnoStatus(EADDRINUSE, absl::StrCat("bind ", address.ToString()));
  }
  return SimulatedDatagramSocket(std::move(opened));
}

SimulatedConnectFuture SimulatedNetwork::Connect(std::string from_host,
                                                 std::string host,
                                                 uint16_t port) {
  const uint16_t from_port = wire_.PickPort(from_host);
  return SimulatedConnectFuture(net_internal::SimulatedConnection::MakeClient(
      wire_, {std::move(from_host), from_port}, {std::move(host), port}));
}

void SimulatedNetwork::Partition(const std::string& a, const std::string& b) {
  PartitionOneWay(a, b);
  PartitionOneWay(b, a);
}

void SimulatedNetwork::PartitionOneWay(const std::string& from,
                                       const std::string& to) {
  wire_.Cut(from, to);
}

void SimulatedNetwork::Heal(const std::string& a, const std::string& b) {
  wire_.Mend(a, b);
  wire_.Mend(b, a);
}

SimulatedConnectFuture::~SimulatedConnectFuture() {
  if (end_ != nullptr) end_->Release();
}

Polled<SimulatedConnectFuture::Output> SimulatedConnectFuture::Poll(
    Context& cx) {
  if (!cx.HasBudget()) return kPending;
  end_->Connect();
  const Polled<io::IoResult> result = end_->PollConnected(cx);
  if (result.IsPending()) return kPending;
  std::shared_ptr<net_internal::SimulatedEnd> end = std::move(end_);
  if (result->ok()) return Output(SimulatedStream(std::move(end)));
  return Output(
      result->status(absl::StrCat("connect ", end->peer_address().ToString())));
}

}  // namespace weft::net
