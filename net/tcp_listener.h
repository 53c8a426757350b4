// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TcpListener: takes TCP connections.
//
//   absl::StatusOr<net::TcpListener> listener =
//       net::TcpListener::Bind(net::SocketAddress::Ipv4Loopback(8080));
//   if (!listener.ok()) co_return listener.status();
//   for (;;) {
//     absl::StatusOr<net::TcpStream> stream = co_await listener->Accept();
//     if (stream.ok()) {
//       Spawn(Serve(*std::move(stream))).Detach();
//     } else if (listener->IsClosed()) {
//       break;
//     }  // else report it and go on
//   }
//
// Errors of Accept(). A connection that ended before it was accepted is passed
// over. When descriptors or memory run out (EMFILE, ENFILE, ENOBUFS, ENOMEM)
// the error is given, and later calls wait before they try again: 10 ms, then
// twice as long each time, at most 1 s. So a loop that goes on after each error
// neither spins nor misses the moment when descriptors are free again, by more
// than that second. After Close(): io::ClosedStatus().
//
// Thread safety: all methods from any thread, except moving and destruction;
// any number of tasks may accept at the same time.
// Lifetime: futures may outlive the listener; they end as after Close().
// Dropping: of a future, no connection is lost. Of the listener, it is closed;
// connections that wait to be accepted are reset.
#ifndef WEFT_NET_TCP_LISTENER_H_
#define WEFT_NET_TCP_LISTENER_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/readiness.h"
#include "weft/io/source.h"
#include "weft/net/accept_backoff.h"
#include "weft/net/listen_options.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/timer/sleep.h"

namespace weft::net {

class AcceptFuture;

class [[nodiscard]] TcpListener {
 public:
  // Binds to `address` (port 0: a free one, see local_address()) and listens.
  // Errors: FailedPrecondition with EADDRINUSE, AlreadyExists with
  // EADDRNOTAVAIL (not an address of this machine), PermissionDenied with
  // EACCES...
  static absl::StatusOr<TcpListener> Bind(
      const SocketAddress& address,
      const ListenOptions& options = ListenOptions());

  // Takes over a TCP socket that listens and makes it non-blocking.
  static absl::StatusOr<TcpListener> FromFd(io::Fd fd);

  TcpListener(TcpListener&&) noexcept = default;
  TcpListener& operator=(TcpListener&&) noexcept = default;

  // The next connection. See above for errors.
  AcceptFuture Accept();

  // Stops listening: from any thread; tasks that wait in Accept() are resumed.
  // One that waits because descriptors ran out is resumed at the end of that
  // wait.
  void Close() { source_.Close(); }
  bool IsClosed() const { return source_.IsClosed(); }

  const SocketAddress& local_address() const { return local_; }

  // For operations that are not here.
  io::Source& source() { return source_; }
  // Gives the descriptor up; not valid if the listener was closed.
  io::Fd IntoFd() && { return std::move(source_).IntoFd(); }

 private:
  TcpListener(io::Source source, const SocketAddress& local);

  io::Source source_;
  SocketAddress local_;
  std::shared_ptr<net_internal::AcceptBackoff> backoff_;
};

// See TcpListener::Accept. Movable until first polled.
class [[nodiscard]] AcceptFuture {
 public:
  using Output = absl::StatusOr<TcpStream>;

  Polled<Output> Poll(Context& cx);

 private:
  friend class TcpListener;

  // Accepts one connection: its descriptor, or -1 with errno.
  class AcceptCall {
   public:
    ssize_t operator()(int listener) const;
    // Who connected.
    const SocketAddress& peer() const { return peer_; }

   private:
    mutable SocketAddress peer_;  // operations are called as constants
  };

  AcceptFuture(io::Source& source, const SocketAddress& local,
               std::shared_ptr<net_internal::AcceptBackoff> backoff)
      : call_(source.AsyncIo(io::Direction::kRead, AcceptCall())),
        local_(local),
        backoff_(std::move(backoff)) {}

  bool PollPause(Context& cx);
  absl::Status OnError(io::IoResult result, Context& cx);

  io::AsyncIoFuture<AcceptCall> call_;
  const SocketAddress local_;  // for messages
  const std::shared_ptr<net_internal::AcceptBackoff> backoff_;
  std::optional<timer::Sleep> pause_;
};

}  // namespace weft::net

#endif  // WEFT_NET_TCP_LISTENER_H_
