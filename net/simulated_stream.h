// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedStream: a connection of a SimulatedNetwork; an io::AsyncRead and
// io::AsyncWrite.
//
//   absl::StatusOr<net::SimulatedStream> stream =
//       co_await network.Connect("client", "server", 80);
//   if (!stream.ok()) co_return stream.status();
//   absl::Status sent = co_await io::WriteAll(*stream, request);
//   absl::StatusOr<size_t> n = co_await io::Read(*stream, buffer);
//
// Bytes arrive in the order in which they were written, whatever is lost. A write
// may take, and a read give, fewer bytes than it could. Two tasks may use one
// stream, one reading and one writing.
//
// Errors: those that a TcpStream gives, with errno and the peer's address, each
// once: ECONNRESET, then reads give the end and writes EPIPE; ETIMEDOUT where what
// was written cannot arrive for longer than SimulatedNetworkOptions::timeout. A
// reader alone waits through a partition for ever. After Close()
// io::ClosedStatus(); when the network is gone, ENETDOWN.
// Thread safety: none.
// Lifetime: may outlive its network.
// Dropping: closes the connection: the peer reads what was written and then the
// end, or, where bytes were not read here, is reset and may lose some. Of a pending
// read or write nothing is lost or written.
#ifndef WEFT_NET_SIMULATED_STREAM_H_
#define WEFT_NET_SIMULATED_STREAM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/net/simulated_connection.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {

class [[nodiscard]] SimulatedStream {
 public:
  SimulatedStream(SimulatedStream&&) noexcept = default;
  SimulatedStream& operator=(SimulatedStream other) noexcept {
    std::swap(end_, other.end_);
    return *this;
  }
  ~SimulatedStream();

  // See io/async_io.h. Shutting down sends what was written and then the end; it is
  // not waited for.
  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to);
  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from);
  Polled<absl::Status> PollFlush(Context& cx);
  Polled<absl::Status> PollShutdown(Context& cx);

  // Closes the connection while others wait for it, whose waits end with
  // io::ClosedStatus().
  void Close() { end_->Close(); }

  // "server:80"
  std::string peer_address() const { return end_->peer_address().ToString(); }
  std::string local_address() const { return end_->address().ToString(); }

 private:
  friend class SimulatedAcceptFuture;
  friend class SimulatedConnectFuture;

  explicit SimulatedStream(std::shared_ptr<net_internal::SimulatedEnd> end)
      : end_(std::move(end)) {}

  std::shared_ptr<net_internal::SimulatedEnd> end_;
};

}  // namespace weft::net

#endif  // WEFT_NET_SIMULATED_STREAM_H_
