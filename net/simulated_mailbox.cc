// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_mailbox.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/executor/event_calendar.h"
#include "weft/net/simulated_network_options.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/random.h"

namespace weft::net_internal {
namespace {

// A datagram on its way. Belongs to itself, until it arrives or the network is gone.
class Flight final : public SimulatedWire::Attachment,
                     private EventCalendar::Event {
 public:
  static void Begin(SimulatedWire& wire, Random& random, SimulatedLetter letter,
                    SimulatedAddress to) {
    auto* const flight =
        new Flight(wire, random, std::move(letter), std::move(to));
    flight->self_.reset(flight);
    wire.calendar().Schedule(
        *flight, wire.calendar().Now() + DrawLatency(random, wire.options()));
  }

 private:
  Flight(SimulatedWire& wire, Random& random, SimulatedLetter letter,
         SimulatedAddress to)
      : Attachment(wire),
        letter_(std::move(letter)),
        to_(std::move(to)),
        lost_(DrawChance(random, wire.options().loss)) {}

  // Null if it does not arrive.
  SimulatedMailbox* Goal() const {
    if (lost_ || wire()->IsCut(letter_.from.host, to_.host)) return nullptr;
    SimulatedMailbox* const goal = wire()->mailboxes().At(to_);
    const bool fits = goal != nullptr && goal->HasRoomFor(letter_.bytes.size());
    return fits ? goal : nullptr;
  }

  void Happen() override {
    const std::unique_ptr<Flight> self = std::move(self_);
    if (SimulatedMailbox* goal = Goal()) goal->Put(std::move(letter_));
  }
  std::string Describe() const override {
    return absl::StrCat("a datagram of ", letter_.bytes.size(), " bytes from ",
                        letter_.from.ToString(), " to ", to_.ToString(),
                        Goal() == nullptr ? ", lost" : "");
  }
  void OnCrash(std::string_view) override {}
  void OnNetworkGone() override {
    const std::unique_ptr<Flight> self = std::move(self_);
  }

  SimulatedLetter letter_;
  const SimulatedAddress to_;
  const bool lost_;
  std::unique_ptr<Flight> self_;
};

}  // namespace

std::shared_ptr<SimulatedMailbox> SimulatedMailbox::Open(
    SimulatedWire& wire, SimulatedAddress address) {
  auto mailbox = std::make_shared<SimulatedMailbox>(wire, std::move(address));
  return mailbox->is_open_ ? mailbox : nullptr;
}

SimulatedMailbox::SimulatedMailbox(SimulatedWire& wire,
                                   SimulatedAddress address)
    : Attachment(wire),
      address_(std::move(address)),
      random_(wire.MakeRandom()),
      is_open_(wire.mailboxes().Open(address_, *this)) {}

void SimulatedMailbox::Send(const SimulatedAddress& to,
                            std::string_view bytes) {
  const bool twice = DrawChance(random_, wire()->options().duplication);
  for (int i = 0; i <= int{twice}; ++i) {
    Flight::Begin(*wire(), random_, {address_, std::string(bytes)}, to);
  }
}

bool SimulatedMailbox::HasRoomFor(size_t bytes) const {
  return size_ + bytes <= wire()->options().window;
}

void SimulatedMailbox::Put(SimulatedLetter letter) {
  size_ += letter.bytes.size();
  letters_.Push(std::move(letter));
}

void SimulatedMailbox::Close() {
  if (is_closed()) return;
  if (is_open_ && wire() != nullptr) wire()->mailboxes().Close(address_);
  while (letters_.Take().has_value()) {
  }
  letters_.Close();
}

void SimulatedMailbox::OnCrash(std::string_view host) {
  if (host == address_.host) Close();
}

}  // namespace weft::net_internal
