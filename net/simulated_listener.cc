// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_listener.h"

#include <memory>
#include <optional>
#include <utility>

#include "weft/io/io_result.h"
#include "weft/net/simulated_connection.h"
#include "weft/net/simulated_stream.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {

SimulatedListener::~SimulatedListener() {
  if (port_ != nullptr) port_->Close();
}

SimulatedAcceptFuture SimulatedListener::Accept() {
  return SimulatedAcceptFuture(port_);
}

Polled<SimulatedAcceptFuture::Output> SimulatedAcceptFuture::Poll(Context& cx) {
  Polled<std::optional<std::shared_ptr<net_internal::SimulatedEnd>>> polled =
      wait_.Poll(cx);
  if (polled.IsPending()) return kPending;
  if (!polled->has_value()) return Output(io::ClosedStatus());
  return Output(SimulatedStream(**std::move(polled)));
}

}  // namespace weft::net
