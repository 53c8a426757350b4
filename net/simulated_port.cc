// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_port.h"

#include <memory>
#include <string_view>
#include <utility>

#include "weft/net/simulated_connection.h"
#include "weft/net/simulated_wire.h"

namespace weft::net_internal {

std::shared_ptr<SimulatedPort> SimulatedPort::Open(SimulatedWire& wire,
                                                   SimulatedAddress address) {
  auto port = std::make_shared<SimulatedPort>(wire, std::move(address));
  return port->listens_ ? port : nullptr;
}

SimulatedPort::SimulatedPort(SimulatedWire& wire, SimulatedAddress address)
    : Attachment(wire),
      address_(std::move(address)),
      listens_(wire.acceptors().Open(address_, *this)) {}

void SimulatedPort::Close() {
  if (is_closed()) return;
  if (listens_ && wire() != nullptr) wire()->acceptors().Close(address_);
  while (const auto end = waiting_.Take()) (*end)->Abort();
  waiting_.Close();
}

void SimulatedPort::OnCrash(std::string_view host) {
  if (host == address_.host) Close();
}

void SimulatedPort::OnConnection(std::shared_ptr<SimulatedEnd> end) {
  waiting_.Push(std::move(end));
}

}  // namespace weft::net_internal
