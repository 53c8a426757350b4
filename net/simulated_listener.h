// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedListener: takes connections of a SimulatedNetwork.
//
//   absl::StatusOr<net::SimulatedListener> listener = network.Listen("server", 80);
//   if (!listener.ok()) co_return listener.status();
//   for (;;) {
//     absl::StatusOr<net::SimulatedStream> stream = co_await listener->Accept();
//     if (!stream.ok()) break;
//     Spawn(Serve(*std::move(stream))).Detach();
//   }
//
// Accept() fails when the listener is closed, by Close(), by a crash of its host, or
// because the network is gone: with io::ClosedStatus().
//
// Thread safety: none; any number of tasks may accept at the same time.
// Lifetime: may outlive its network. Futures may outlive the listener; they end as
// after Close().
// Dropping: of a future, no connection is lost. Of the listener, it is closed;
// connections that wait to be accepted are reset.
#ifndef WEFT_NET_SIMULATED_LISTENER_H_
#define WEFT_NET_SIMULATED_LISTENER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/net/simulated_connection.h"
#include "weft/net/simulated_port.h"
#include "weft/net/simulated_queue.h"
#include "weft/net/simulated_stream.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {

class SimulatedAcceptFuture;

class [[nodiscard]] SimulatedListener {
 public:
  SimulatedListener(SimulatedListener&&) noexcept = default;
  SimulatedListener& operator=(SimulatedListener other) noexcept {
    std::swap(port_, other.port_);
    return *this;
  }
  ~SimulatedListener();

  // The next connection.
  SimulatedAcceptFuture Accept();

  // Stops listening; tasks that wait in Accept() are resumed.
  void Close() { port_->Close(); }
  bool IsClosed() const { return port_->is_closed(); }

  // "server:80"
  std::string local_address() const { return port_->address().ToString(); }

 private:
  friend class SimulatedNetwork;

  explicit SimulatedListener(std::shared_ptr<net_internal::SimulatedPort> port)
      : port_(std::move(port)) {}

  std::shared_ptr<net_internal::SimulatedPort> port_;
};

// See SimulatedListener::Accept. Movable until first polled.
class [[nodiscard]] SimulatedAcceptFuture {
 public:
  using Output = absl::StatusOr<SimulatedStream>;

  Polled<Output> Poll(Context& cx);

 private:
  friend SimulatedListener;

  explicit SimulatedAcceptFuture(
      std::shared_ptr<net_internal::SimulatedPort> port)
      : port_(std::move(port)), wait_(port_->waiting()) {}

  std::shared_ptr<net_internal::SimulatedPort> port_;
  net_internal::SimulatedQueue<
      std::shared_ptr<net_internal::SimulatedEnd>>::Wait wait_;  // in `port_`
};

}  // namespace weft::net

#endif  // WEFT_NET_SIMULATED_LISTENER_H_
