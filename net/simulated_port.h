// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedPort: a port that is listened on, and the connections that wait there.
// Internal.
//
// Thread safety: none.
// Lifetime: while its listener or one that accepts holds it.
#ifndef WEFT_NET_SIMULATED_PORT_H_
#define WEFT_NET_SIMULATED_PORT_H_

#include <memory>
#include <string_view>

#include "weft/net/simulated_connection.h"
#include "weft/net/simulated_queue.h"
#include "weft/net/simulated_wire.h"

namespace weft::net_internal {

class SimulatedPort final : public SimulatedWire::Attachment,
                            private SimulatedWire::Acceptor {
 public:
  // Null if somebody listens at the address.
  static std::shared_ptr<SimulatedPort> Open(SimulatedWire& wire,
                                             SimulatedAddress address);

  SimulatedPort(SimulatedWire& wire, SimulatedAddress address);
  ~SimulatedPort() override { Close(); }

  const SimulatedAddress& address() const { return address_; }
  bool is_closed() const { return waiting_.is_closed(); }

  SimulatedQueue<std::shared_ptr<SimulatedEnd>>& waiting() { return waiting_; }

  // Resets the connections that wait.
  void Close();

  void OnCrash(std::string_view host) override;
  void OnNetworkGone() override { Close(); }

 private:
  void OnConnection(std::shared_ptr<SimulatedEnd> end) override;

  const SimulatedAddress address_;
  bool listens_ = false;  // the wire knows it
  SimulatedQueue<std::shared_ptr<SimulatedEnd>> waiting_;
};

}  // namespace weft::net_internal

#endif  // WEFT_NET_SIMULATED_PORT_H_
