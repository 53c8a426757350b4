// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedDatagramSocket: sends and receives datagrams of a SimulatedNetwork.
//
//   absl::StatusOr<net::SimulatedDatagramSocket> socket = network.Bind("a", 7000);
//   if (!socket.ok()) co_return socket.status();
//   absl::Status sent = socket->SendTo("b", 7000, "hello");
//   absl::StatusOr<net::SimulatedDatagram> datagram = co_await socket->Receive();
//
// A datagram arrives whole, once, twice or not at all, and may overtake others: as
// SimulatedNetworkOptions::loss and duplication say, and as long as each takes. It is
// lost, too, where it meets a partition, where nobody receives, and where as many
// bytes wait to be received as SimulatedNetworkOptions::window.
//
// Errors: EMSGSIZE. After Close() or a crash of its host io::ClosedStatus(); when
// the network is gone, ENETDOWN to who sends.
// Thread safety: none; any number of tasks may receive at the same time.
// Lifetime: may outlive its network. Futures may outlive the socket; they end as
// after Close().
// Dropping: of a future, no datagram is lost. Of the socket, it is closed; what it
// has sent arrives all the same.
#ifndef WEFT_NET_SIMULATED_DATAGRAM_SOCKET_H_
#define WEFT_NET_SIMULATED_DATAGRAM_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/net/simulated_mailbox.h"
#include "weft/net/simulated_queue.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {

class SimulatedReceiveFuture;

struct SimulatedDatagram {
  std::string host;  // of the sender
  uint16_t port;
  std::string bytes;
};

class [[nodiscard]] SimulatedDatagramSocket {
 public:
  // What UDP over IPv4 can carry (RFC 768, RFC 791).
  static constexpr size_t kMaxSize = 65'507;

  SimulatedDatagramSocket(SimulatedDatagramSocket&&) noexcept = default;
  SimulatedDatagramSocket& operator=(SimulatedDatagramSocket other) noexcept {
    std::swap(mailbox_, other.mailbox_);
    return *this;
  }
  ~SimulatedDatagramSocket();

  // Sends it on its way; never waits. OK does not mean that it arrives.
  absl::Status SendTo(std::string host, uint16_t port, std::string_view bytes);

  // The next one that has arrived.
  SimulatedReceiveFuture Receive();

  // Tasks that wait in Receive() are resumed; what was not received is lost.
  void Close() { mailbox_->Close(); }
  bool IsClosed() const { return mailbox_->is_closed(); }

  // "a:7000"
  std::string local_address() const { return mailbox_->address().ToString(); }

 private:
  friend class SimulatedNetwork;

  explicit SimulatedDatagramSocket(
      std::shared_ptr<net_internal::SimulatedMailbox> mailbox)
      : mailbox_(std::move(mailbox)) {}

  std::shared_ptr<net_internal::SimulatedMailbox> mailbox_;
};

// See SimulatedDatagramSocket::Receive. Movable until first polled.
class [[nodiscard]] SimulatedReceiveFuture {
 public:
  using Output = absl::StatusOr<SimulatedDatagram>;

  Polled<Output> Poll(Context& cx);

 private:
  friend SimulatedDatagramSocket;

  explicit SimulatedReceiveFuture(
      std::shared_ptr<net_internal::SimulatedMailbox> mailbox)
      : mailbox_(std::move(mailbox)), wait_(mailbox_->letters()) {}

  std::shared_ptr<net_internal::SimulatedMailbox> mailbox_;
  net_internal::SimulatedQueue<net_internal::SimulatedLetter>::Wait
      wait_;  // in `mailbox_`
};

}  // namespace weft::net

#endif  // WEFT_NET_SIMULATED_DATAGRAM_SOCKET_H_
