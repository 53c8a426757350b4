// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the ends do is what Linux does, as far as a program can see it: what had
// arrived before a reset can still be read; the error is given once; a reset after
// the end was read shows as EPIPE; closing with unread bytes resets. Three things
// are simpler:
//   - Whatever has arrived counts as acknowledged. So only packets that do not
//     arrive time out, and with them the end that has sent them. The room that a
//     reader makes is one of them, but there it is the writer who times out, as if
//     it had asked in vain.
//   - A packet is lost or not at the moment when it would arrive, so a partition
//     that is shorter than its way goes unnoticed.
//   - A queue of connections that wait to be accepted is never full.
#include "weft/net/simulated_connection.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "weft/io/io_result.h"
#include "weft/net/simulated_network_options.h"
#include "weft/net/simulated_wire.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/waker.h"

namespace weft::net_internal {
namespace {

using io::IoResult;

IoResult Count(size_t n) { return IoResult::Of(static_cast<ssize_t>(n)); }

// From 1 to `most`.
size_t DrawPart(SimulatedConnection& connection, size_t most) {
  Random& random = connection.random();
  if (!DrawChance(random, connection.wire()->options().cut)) return most;
  return 1 + static_cast<size_t>(random.Next() % most);
}

void Keep(Waker& kept, Context& cx) {
  if (!kept.WillWake(cx.waker())) kept = cx.waker();
}

// Ready with what `attempt` gives, if that is something.
template <class Attempt>
Polled<IoResult> PollWith(Context& cx, Waker& waiting, Attempt attempt) {
  if (!cx.HasBudget()) return kPending;
  if (const std::optional<IoResult> result = attempt()) {
    cx.Charge();
    return *result;
  }
  Keep(waiting, cx);
  return kPending;
}

}  // namespace

// ---- What the program does ----

SimulatedEnd::SimulatedEnd(SimulatedConnection& connection, SimulatedEnd& peer,
                           SimulatedAddress address)
    : connection_(connection),
      peer_(peer),
      address_(std::move(address)),
      room_(connection.wire()->options().window) {}

void SimulatedEnd::Connect() {
  if (state_ != State::kIdle) return;
  state_ = State::kConnecting;
  Send({Packet::kConnect});
}

Polled<IoResult> SimulatedEnd::PollConnected(Context& cx) {
  return PollWith(cx, writer_, [this]() -> std::optional<IoResult> {
    if (state_ == State::kConnecting) return std::nullopt;
    return TakeError(Count(0));
  });
}

Polled<IoResult> SimulatedEnd::PollRead(Context& cx, std::span<char> to) {
  return PollWith(cx, reader_, [&] { return TryRead(to); });
}

Polled<IoResult> SimulatedEnd::PollWrite(Context& cx,
                                         std::span<const char> from) {
  return PollWith(cx, writer_, [&] { return TryWrite(from); });
}

std::optional<IoResult> SimulatedEnd::TryRead(std::span<char> to) {
  if (closed_) return IoResult::SourceClosed();
  if (inbox_.empty()) {
    if (end_arrived_) return Count(0);
    if (state_ == State::kDead) return TakeError(Count(0));
    return std::nullopt;
  }
  size_t n = std::min(to.size(), inbox_.size());
  if (connection_.wire() != nullptr) n = DrawPart(connection_, n);
  const auto end = inbox_.begin() + static_cast<std::ptrdiff_t>(n);
  std::copy(inbox_.begin(), end, to.begin());
  inbox_.erase(inbox_.begin(), end);
  MakeRoom(n);
  return Count(n);
}

std::optional<IoResult> SimulatedEnd::TryWrite(std::span<const char> from) {
  if (closed_) return IoResult::SourceClosed();
  if (state_ == State::kDead) return TakeError(IoResult::Error(EPIPE));
  if (shut_) return IoResult::Error(EPIPE);
  if (room_ == 0) return std::nullopt;
  const size_t n = DrawPart(connection_, std::min(from.size(), room_));
  room_ -= n;
  Send({Packet::kData, std::string(from.data(), n)});
  return Count(n);
}

IoResult SimulatedEnd::TakeError(IoResult otherwise) {
  if (error_ == 0) return otherwise;
  return IoResult::Error(std::exchange(error_, 0));
}

// The peer is told when it is worth a packet, as RFC 9293 (3.8.6.2.2) wants it.
void SimulatedEnd::MakeRoom(size_t bytes) {
  if (state_ != State::kOpen || end_arrived_) return;
  taken_ += bytes;
  if (taken_ < connection_.wire()->options().window / 2) return;
  Send({Packet::kRoom, "", std::exchange(taken_, 0)});
}

IoResult SimulatedEnd::Shutdown() {
  if (closed_) return IoResult::SourceClosed();
  if (state_ == State::kOpen && !std::exchange(shut_, true)) {
    Send({Packet::kEnd});
    std::exchange(writer_, Waker()).Wake();  // it fails now
  }
  return Count(0);
}

void SimulatedEnd::Close() {
  if (closed_) return;
  if (!inbox_.empty()) return Abort();
  static_cast<void>(Shutdown());
  closed_ = true;
  if (state_ != State::kOpen) state_ = State::kDead;
  WakeAll();
}

void SimulatedEnd::Abort() {
  closed_ = true;
  Reset();
  WakeAll();
}

void SimulatedEnd::Release() {
  reader_ = Waker();
  writer_ = Waker();
  Close();
}

// A reset may overtake what was sent before it.
void SimulatedEnd::Reset() {
  inbox_.clear();
  if (std::exchange(state_, State::kDead) != State::kOpen) return;
  if (connection_.random().Below(2) == 0) {
    Withdraw(
        [](const Packet& packet) { return packet.kind != Packet::kAccept; });
  }
  Send({Packet::kReset});
}

// ---- What is on its way ----

void SimulatedEnd::Send(Packet packet) {
  SimulatedWire* const wire = connection_.wire();
  if (wire == nullptr) return;
  const absl::Duration latency =
      DrawLatency(connection_.random(), wire->options());
  last_due_ = std::max(last_due_, wire->calendar().Now() + latency);
  packet.due = last_due_;
  outgoing_.push_back(std::move(packet));
  if (outgoing_.size() > 1) return;
  keep_ = connection_.shared_from_this();
  ScheduleHead();
}

void SimulatedEnd::ScheduleHead() {
  SimulatedWire& wire = *connection_.wire();
  const Instant due = std::max(wire.calendar().Now(), outgoing_.front().due);
  lost_ = DrawChance(connection_.random(), wire.options().loss);
  backoff_ = wire.options().retransmit;
  give_up_at_ = due + wire.options().timeout;
  wire.calendar().Schedule(*this, due);
}

bool SimulatedEnd::IsHeadLost() const {
  return lost_ || connection_.wire()->IsCut(address_.host, peer_.address_.host);
}

// The first one arrives, or does not.
void SimulatedEnd::Happen() {
  const std::shared_ptr<SimulatedConnection> self =
      connection_.shared_from_this();
  SimulatedWire& wire = *connection_.wire();
  if (!IsHeadLost()) {
    Packet packet = std::move(outgoing_.front());
    PopHead();
    return peer_.Receive(std::move(packet));
  }
  const Instant now = wire.calendar().Now();
  if (now >= give_up_at_) return GiveUpHead();
  lost_ = DrawChance(connection_.random(), wire.options().loss);
  wire.calendar().Schedule(*this, std::min(now + backoff_, give_up_at_));
  backoff_ *= 2;
}

void SimulatedEnd::PopHead() {
  outgoing_.pop_front();
  if (outgoing_.empty()) {
    keep_.reset();
  } else {
    ScheduleHead();
  }
}

void SimulatedEnd::GiveUpHead() {
  const Packet::Kind kind = outgoing_.front().kind;
  PopHead();
  switch (kind) {
    case Packet::kConnect:
    case Packet::kData:
    case Packet::kEnd:
      return Die(ETIMEDOUT);
    case Packet::kAccept:
      Die(ETIMEDOUT);
      return peer_.Die(ETIMEDOUT);
    case Packet::kRoom:
      return peer_.Die(ETIMEDOUT);
    case Packet::kReset:
      if (peer_.state_ == State::kConnecting) peer_.Die(ETIMEDOUT);
  }
}

// Takes packets back. Requires: somebody holds the connection.
template <class Predicate>
void SimulatedEnd::Withdraw(Predicate predicate) {
  if (outgoing_.empty()) return;
  const bool is_head_gone = predicate(outgoing_.front());
  std::erase_if(outgoing_, predicate);
  if (!is_head_gone) return;
  connection_.wire()->calendar().Cancel(*this);
  if (outgoing_.empty()) {
    keep_.reset();
  } else {
    ScheduleHead();
  }
}

std::string SimulatedEnd::Describe() const {
  const Packet& packet = outgoing_.front();
  std::string what;
  switch (packet.kind) {
    case Packet::kConnect:
      what = "connect";
      break;
    case Packet::kAccept:
      what = "accept";
      break;
    case Packet::kData:
      what = absl::StrCat(packet.bytes.size(), " bytes");
      break;
    case Packet::kRoom:
      what = absl::StrCat("room for ", packet.room, " bytes");
      break;
    case Packet::kEnd:
      what = "the end";
      break;
    case Packet::kReset:
      what = "reset";
      break;
  }
  return absl::StrCat(what, " from ", address_.ToString(), " to ",
                      peer_.address_.ToString(), IsHeadLost() ? ", lost" : "");
}

// ---- What arrives ----

void SimulatedEnd::Receive(Packet packet) {
  if (packet.kind == Packet::kConnect) return Decide();
  if (packet.kind == Packet::kReset) {
    return Die(state_ == State::kConnecting ? ECONNREFUSED
               : end_arrived_               ? EPIPE
                                            : ECONNRESET);
  }
  if (state_ == State::kDead) return Send({Packet::kReset});
  switch (packet.kind) {
    case Packet::kAccept:
      state_ = State::kOpen;
      std::exchange(writer_, Waker()).Wake();
      break;
    case Packet::kData:
      if (closed_) return Reset();
      inbox_.insert(inbox_.end(), packet.bytes.begin(), packet.bytes.end());
      std::exchange(reader_, Waker()).Wake();
      break;
    case Packet::kRoom:
      room_ += packet.room;
      std::exchange(writer_, Waker()).Wake();
      break;
    default:  // the end
      end_arrived_ = true;
      std::exchange(reader_, Waker()).Wake();
  }
}

// Somebody asks for a connection.
void SimulatedEnd::Decide() {
  SimulatedWire::Acceptor* const acceptor =
      connection_.wire()->acceptors().At(address_);
  if (acceptor == nullptr) {
    state_ = State::kDead;
    return Send({Packet::kReset});
  }
  state_ = State::kOpen;
  Send({Packet::kAccept});
  acceptor->OnConnection(
      std::shared_ptr<SimulatedEnd>(connection_.shared_from_this(), this));
}

// Requires: somebody holds the connection.
void SimulatedEnd::Die(int error) {
  if (state_ == State::kDead) return;
  state_ = State::kDead;
  error_ = error;
  if (connection_.wire() != nullptr) {
    Withdraw([](const Packet&) { return true; });
  }
  WakeAll();
}

// What the host had not sent yet is lost.
void SimulatedEnd::Crash() {
  if (state_ == State::kIdle) return;
  inbox_.clear();
  if (state_ == State::kDead) {
    return Withdraw([](const Packet& p) { return p.kind != Packet::kReset; });
  }
  Die(ECONNRESET);
  Send({Packet::kReset});
}

void SimulatedEnd::WakeAll() {
  std::exchange(reader_, Waker()).Wake();
  std::exchange(writer_, Waker()).Wake();
}

// ---- Both ends ----

std::shared_ptr<SimulatedEnd> SimulatedConnection::MakeClient(
    SimulatedWire& wire, SimulatedAddress client, SimulatedAddress server) {
  auto connection = std::make_shared<SimulatedConnection>(
      wire, std::move(client), std::move(server));
  SimulatedEnd* const end = &connection->client_;
  return std::shared_ptr<SimulatedEnd>(std::move(connection), end);
}

SimulatedConnection::SimulatedConnection(SimulatedWire& wire,
                                         SimulatedAddress client,
                                         SimulatedAddress server)
    : Attachment(wire),
      random_(wire.MakeRandom()),
      client_(*this, server_, std::move(client)),
      server_(*this, client_, std::move(server)) {}

void SimulatedConnection::OnCrash(std::string_view host) {
  const std::shared_ptr<SimulatedConnection> self = shared_from_this();
  for (SimulatedEnd* end : {&client_, &server_}) {
    if (end->address_.host == host) end->Crash();
  }
}

// A packet holds the connection to which it belongs.
void SimulatedConnection::OnNetworkGone() {
  const std::shared_ptr<SimulatedConnection> self = shared_from_this();
  for (SimulatedEnd* end : {&client_, &server_}) {
    end->Die(ENETDOWN);
    end->outgoing_.clear();
    end->keep_.reset();
  }
}

}  // namespace weft::net_internal
