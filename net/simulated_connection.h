// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedConnection: two ends, and the packets that are on their way between
// them. Internal.
//
// Each end is a small TCP: packets arrive in the order in which they were sent, a
// lost one is sent again while those behind it wait; bytes that the reader has taken
// make room for others; an end that is over answers what still arrives with a reset.
//
// Thread safety: none.
// Lifetime: while a stream or a packet on its way holds it.
#ifndef WEFT_NET_SIMULATED_CONNECTION_H_
#define WEFT_NET_SIMULATED_CONNECTION_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "weft/executor/event_calendar.h"
#include "weft/io/io_result.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/waker.h"

namespace weft::net_internal {

class SimulatedConnection;

class SimulatedEnd final : private EventCalendar::Event {
 public:
  SimulatedEnd(SimulatedConnection& connection, SimulatedEnd& peer,
               SimulatedAddress address);

  const SimulatedAddress& address() const { return address_; }
  const SimulatedAddress& peer_address() const { return peer_.address_; }

  // Sends the wish for a connection, the first time; and waits for the answer.
  void Connect();
  Polled<io::IoResult> PollConnected(Context& cx);

  // As read(2) and write(2) of a connected socket. An error is given once; from then
  // on reads give the end, and writes EPIPE.
  Polled<io::IoResult> PollRead(Context& cx, std::span<char> to);
  Polled<io::IoResult> PollWrite(Context& cx, std::span<const char> from);
  io::IoResult Shutdown();

  // As close(2): ends the waits; the peer reads the end, or is reset if there were
  // bytes that nobody has read.
  void Close();
  // The same, and the peer is reset.
  void Abort();
  // The same as Close(), by the last one who holds this end: nobody is woken.
  void Release();

 private:
  friend SimulatedConnection;

  enum class State {
    kIdle,        // a server's: nobody has asked for it
    kConnecting,  // a client's: not answered yet
    kOpen,
    kDead,  // refused, reset or timed out
  };

  struct Packet {
    enum Kind { kConnect, kAccept, kData, kRoom, kEnd, kReset };

    Kind kind;
    std::string bytes = "";  // of kData
    size_t room = 0;         // of kRoom
    Instant due = Instant::Past();
  };

  // What is on its way to the peer.
  void Send(Packet packet);
  void ScheduleHead();
  void Happen() override;
  std::string Describe() const override;
  bool IsHeadLost() const;
  void PopHead();
  void GiveUpHead();
  template <class Predicate>
  void Withdraw(Predicate predicate);

  // What has arrived.
  void Receive(Packet packet);
  void Decide();

  std::optional<io::IoResult> TryRead(std::span<char> to);
  std::optional<io::IoResult> TryWrite(std::span<const char> from);
  io::IoResult TakeError(io::IoResult otherwise);
  void MakeRoom(size_t bytes);
  void Reset();
  void Die(int error);
  void Crash();
  void WakeAll();

  SimulatedConnection& connection_;
  SimulatedEnd& peer_;
  const SimulatedAddress address_;

  State state_ = State::kIdle;
  bool closed_ = false;  // nobody holds this end
  int error_ = 0;        // why it is dead, until somebody was told

  std::deque<char> inbox_;    // arrived, not read
  size_t taken_ = 0;          // read, and the peer has not been told
  bool end_arrived_ = false;  // nothing comes after the inbox
  size_t room_;               // for so many bytes more
  bool shut_ = false;         // the end was sent
  Waker reader_;
  Waker writer_;  // who connects, too

  std::deque<Packet> outgoing_;
  Instant last_due_ = Instant::Past();
  // Of the first one: whether it gets lost this time, how long to wait before it is
  // sent again, and when that is in vain.
  bool lost_ = false;
  absl::Duration backoff_;
  Instant give_up_at_;
  std::shared_ptr<SimulatedConnection> keep_;  // while there are any
};

class SimulatedConnection final
    : public SimulatedWire::Attachment,
      public std::enable_shared_from_this<SimulatedConnection> {
 public:
  // The client's end of a new one, not connected.
  static std::shared_ptr<SimulatedEnd> MakeClient(SimulatedWire& wire,
                                                  SimulatedAddress client,
                                                  SimulatedAddress server);

  SimulatedConnection(SimulatedWire& wire, SimulatedAddress client,
                      SimulatedAddress server);

  Random& random() { return random_; }

  void OnCrash(std::string_view host) override;
  void OnNetworkGone() override;

 private:
  Random random_;
  SimulatedEnd client_;
  SimulatedEnd server_;
};

}  // namespace weft::net_internal

#endif  // WEFT_NET_SIMULATED_CONNECTION_H_
