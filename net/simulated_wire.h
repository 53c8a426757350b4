// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedWire: what the parts of a simulated network share: its calendar, its
// numbers, who is cut off from whom, and what is attached to it. Internal.
//
// Thread safety: none.
// Lifetime: within the executor's. Attachments may outlive it; they are told.
#ifndef WEFT_NET_SIMULATED_WIRE_H_
#define WEFT_NET_SIMULATED_WIRE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/event_calendar.h"
#include "weft/net/simulated_network_options.h"
#include "weft/task/random.h"

namespace weft::net_internal {

class SimulatedEnd;
class SimulatedMailbox;

// A host, by its name, and a port of it.
struct SimulatedAddress {
  std::string host;
  uint16_t port;

  std::string ToString() const;  // "server:80"
  auto operator<=>(const SimulatedAddress&) const = default;
};

// Who has which port.
template <class Owner>
class SimulatedPorts {
 public:
  // False if the address is taken.
  bool Open(const SimulatedAddress& address, Owner& owner) {
    return owners_.emplace(address, &owner).second;
  }
  void Close(const SimulatedAddress& address) { owners_.erase(address); }
  // Null where there is none.
  Owner* At(const SimulatedAddress& address) const {
    const auto it = owners_.find(address);
    return it == owners_.end() ? nullptr : it->second;
  }

 private:
  std::map<SimulatedAddress, Owner*> owners_;
};

class SimulatedWire {
 public:
  // A part of the network that may be its last user, and is told of its ends.
  class Attachment {
   public:
    explicit Attachment(SimulatedWire& wire);
    Attachment(const Attachment&) = delete;  // the wire holds its address
    Attachment& operator=(const Attachment&) = delete;

    // What was on `host` is gone.
    virtual void OnCrash(std::string_view host) = 0;
    // wire() is null from now on.
    virtual void OnNetworkGone() = 0;

    SimulatedWire* wire() const { return wire_; }

   protected:
    virtual ~Attachment();

   private:
    friend SimulatedWire;
    SimulatedWire* wire_;
    const uint64_t number_;  // in the order in which they were made
  };

  // Who is given the connections to a port.
  class Acceptor {
   public:
    virtual void OnConnection(std::shared_ptr<SimulatedEnd> end) = 0;

   protected:
    ~Acceptor() = default;
  };

  SimulatedWire(DeterministicExecutor& executor,
                const net::SimulatedNetworkOptions& options);
  SimulatedWire(const SimulatedWire&) = delete;
  SimulatedWire& operator=(const SimulatedWire&) = delete;
  ~SimulatedWire();

  const net::SimulatedNetworkOptions& options() const { return options_; }
  EventCalendar& calendar() { return calendar_; }

  // Numbers that no other part draws: what happens to one part does not change with
  // what others do.
  Random MakeRandom() { return Random(random_.Next()); }

  void Cut(const std::string& from, const std::string& to);
  void Mend(const std::string& from, const std::string& to);
  bool IsCut(const std::string& from, const std::string& to) const {
    return cuts_.contains({from, to});
  }
  void Crash(std::string_view host);

  SimulatedPorts<Acceptor>& acceptors() { return acceptors_; }
  SimulatedPorts<SimulatedMailbox>& mailboxes() { return mailboxes_; }
  // The next one of the ports of `host` that the system picks.
  uint16_t PickPort(const std::string& host);

 private:
  // Calls `fn` for each attachment there is; it may destroy some.
  void ForEach(absl::FunctionRef<void(Attachment&)> fn);

  const net::SimulatedNetworkOptions options_;
  EventCalendar calendar_;
  Random random_;
  std::set<std::pair<std::string, std::string>> cuts_;  // from, to
  SimulatedPorts<Acceptor> acceptors_;
  SimulatedPorts<SimulatedMailbox> mailboxes_;
  std::map<std::string, uint16_t> picked_;  // by host: the last port
  uint64_t attached_ = 0;
  std::map<uint64_t, Attachment*> attachments_;
};

// How long a packet takes.
absl::Duration DrawLatency(Random& random,
                           const net::SimulatedNetworkOptions& options);
bool DrawChance(Random& random, double probability);

}  // namespace weft::net_internal

#endif  // WEFT_NET_SIMULATED_WIRE_H_
