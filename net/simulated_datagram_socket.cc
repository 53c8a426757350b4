// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_datagram_socket.h"

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "weft/io/io_result.h"
#include "weft/net/simulated_mailbox.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::net {

using net_internal::SimulatedAddress;
using net_internal::SimulatedLetter;

SimulatedDatagramSocket::~SimulatedDatagramSocket() {
  if (mailbox_ != nullptr) mailbox_->Close();
}

absl::Status SimulatedDatagramSocket::SendTo(std::string host, uint16_t port,
                                             std::string_view bytes) {
  const SimulatedAddress to = {std::move(host), port};
  int error = 0;
  if (mailbox_->wire() == nullptr) {
    error = ENETDOWN;
  } else if (IsClosed()) {
    return io::ClosedStatus();
  } else if (bytes.size() > kMaxSize) {
    error = EMSGSIZE;
  }
  if (error != 0) {
    return ErrnoStatus(error, absl::StrCat("sendto ", to.ToString()));
  }
  mailbox_->Send(to, bytes);
  return absl::OkStatus();
}

SimulatedReceiveFuture SimulatedDatagramSocket::Receive() {
  return SimulatedReceiveFuture(mailbox_);
}

Polled<SimulatedReceiveFuture::Output> SimulatedReceiveFuture::Poll(
    Context& cx) {
  Polled<std::optional<SimulatedLetter>> polled = wait_.Poll(cx);
  if (polled.IsPending()) return kPending;
  if (!polled->has_value()) return Output(io::ClosedStatus());
  SimulatedLetter& letter = **polled;
  mailbox_->OnTaken(letter);
  return Output(SimulatedDatagram{std::move(letter.from.host), letter.from.port,
                                  std::move(letter.bytes)});
}

}  // namespace weft::net
