// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedMailbox: a port that datagrams are sent to and from. Internal.
//
// Thread safety: none.
// Lifetime: while its socket or one that receives holds it. Datagrams on their way
// are independent of it.
#ifndef WEFT_NET_SIMULATED_MAILBOX_H_
#define WEFT_NET_SIMULATED_MAILBOX_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "weft/net/simulated_queue.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/random.h"

namespace weft::net_internal {

struct SimulatedLetter {
  SimulatedAddress from;
  std::string bytes;
};

class SimulatedMailbox final : public SimulatedWire::Attachment {
 public:
  // Null if the address is taken.
  static std::shared_ptr<SimulatedMailbox> Open(SimulatedWire& wire,
                                                SimulatedAddress address);

  SimulatedMailbox(SimulatedWire& wire, SimulatedAddress address);
  ~SimulatedMailbox() override { Close(); }

  const SimulatedAddress& address() const { return address_; }
  bool is_closed() const { return letters_.is_closed(); }

  // Requires: wire() != nullptr.
  void Send(const SimulatedAddress& to, std::string_view bytes);

  bool HasRoomFor(size_t bytes) const;
  // Requires: HasRoomFor() its bytes.
  void Put(SimulatedLetter letter);
  SimulatedQueue<SimulatedLetter>& letters() { return letters_; }
  // To be called for what was taken from letters().
  void OnTaken(const SimulatedLetter& letter) { size_ -= letter.bytes.size(); }

  // Those that wait are lost.
  void Close();

  void OnCrash(std::string_view host) override;
  void OnNetworkGone() override { Close(); }

 private:
  const SimulatedAddress address_;
  Random random_;
  bool is_open_ = false;  // the wire knows it
  size_t size_ = 0;       // of what waits
  SimulatedQueue<SimulatedLetter> letters_;
};

}  // namespace weft::net_internal

#endif  // WEFT_NET_SIMULATED_MAILBOX_H_
