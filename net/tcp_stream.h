// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TcpStream: a TCP connection; an io::AsyncRead and io::AsyncWrite.
//
//   absl::StatusOr<net::TcpStream> stream =
//       co_await net::TcpStream::Connect(address);
//   if (!stream.ok()) co_return stream.status();
//   absl::Status sent = co_await io::WriteAll(*stream, request);
//   absl::StatusOr<size_t> n = co_await io::Read(*stream, buffer);
//
// Nothing is buffered: what was written is the kernel's. SIGPIPE is never
// raised. Two tasks may use one stream, one reading and one writing, directly
// or by the halves of Split (borrowed) and IntoSplit (owned).
//
// Errors: those of the system with errno and the peer's address; after Close()
// io::ClosedStatus().
// Thread safety: one task reads and one writes, also at once; the other methods
// from any thread, except moving and destruction.
// Lifetime: may outlive its reactor; then waits end with an error.
// Dropping: closes the connection. Of a pending read or write nothing is lost
// or written. Of a pending Connect: closes the socket.
#ifndef WEFT_NET_TCP_STREAM_H_
#define WEFT_NET_TCP_STREAM_H_

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/source.h"
#include "weft/net/socket_address.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {

class TcpConnectFuture;
class TcpReadHalf;
class TcpWriteHalf;
class OwnedTcpReadHalf;
class OwnedTcpWriteHalf;

// Which direction of a connection ends.
enum class ShutdownHow { kRead, kWrite, kBoth };

class [[nodiscard]] TcpStream {
 public:
  // Connects to `address`. Ready when the connection is made, or with the
  // reason why not: Unavailable with ECONNREFUSED, DeadlineExceeded with
  // ETIMEDOUT (after some two minutes: wrap it in a Timeout), ENETUNREACH...
  // A socket that the system has connected to itself (which happens on loopback
  // when nobody listens) counts as refused.
  static TcpConnectFuture Connect(const SocketAddress& address);

  // Takes over a connected TCP socket and makes it non-blocking.
  static absl::StatusOr<TcpStream> FromFd(io::Fd fd);

  TcpStream(TcpStream&&) noexcept = default;
  TcpStream& operator=(TcpStream&&) noexcept = default;

  // See io/async_io.h. Shutting down sends what was written and then the end;
  // it is not waited for.
  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to);
  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from);
  Polled<absl::Status> PollFlush(Context& cx);
  Polled<absl::Status> PollShutdown(Context& cx);

  // The same for several pieces at once, in one system call; of more than 1024
  // pieces the first ones.
  Polled<absl::StatusOr<size_t>> PollReadV(Context& cx,
                                           std::span<const iovec> to);
  Polled<absl::StatusOr<size_t>> PollWriteV(Context& cx,
                                            std::span<const iovec> from);

  // Ends a direction now. kWrite: the peer reads what was written and then the
  // end. kRead: reads give what has arrived, then the end; the peer is not
  // told. Fine if the connection is over already.
  absl::Status Shutdown(ShutdownHow how);

  // Closes the connection: from any thread, while others wait for it, whose
  // waits end with io::ClosedStatus().
  void Close() { source_.Close(); }

  const SocketAddress& peer_address() const { return peer_; }
  absl::StatusOr<SocketAddress> local_address();

  // Whether small writes are sent at once, instead of being held back until
  // earlier ones are acknowledged (TCP_NODELAY). Off as made.
  absl::Status SetNoDelay(bool on);
  absl::StatusOr<bool> no_delay();

  // Two views of this stream, which must outlive them. For tasks that are
  // joined in the scope of the stream.
  std::pair<TcpReadHalf, TcpWriteHalf> Split();
  // Two owners of it. For tasks that are spawned.
  std::pair<OwnedTcpReadHalf, OwnedTcpWriteHalf> IntoSplit() &&;

  // For operations that are not here.
  io::Source& source() { return source_; }
  // Gives the descriptor up; not valid if the stream was closed.
  io::Fd IntoFd() && { return std::move(source_).IntoFd(); }

 private:
  friend class TcpConnectFuture;
  friend class TcpListener;
  friend class AcceptFuture;

  TcpStream(io::Source source, const SocketAddress& peer)
      : source_(std::move(source)), peer_(peer) {}

  io::Source source_;
  SocketAddress peer_;
};

// See TcpStream::Connect. Movable also between polls.
// Dropping: gives the attempt up and closes the socket.
class [[nodiscard]] TcpConnectFuture {
 public:
  using Output = absl::StatusOr<TcpStream>;
  static constexpr bool kMovableAfterPoll = true;

  Polled<Output> Poll(Context& cx);

 private:
  friend class TcpStream;
  explicit TcpConnectFuture(const SocketAddress& address) : address_(address) {}

  absl::Status Start();
  absl::Status Failed(int error) const;

  SocketAddress address_;
  std::optional<io::Source> source_;
};

// A view of a stream that reads. Dropping: nothing.
class TcpReadHalf {
 public:
  static constexpr bool kBorrows = true;

  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to) {
    return stream_->PollRead(cx, to);
  }
  Polled<absl::StatusOr<size_t>> PollReadV(Context& cx,
                                           std::span<const iovec> to) {
    return stream_->PollReadV(cx, to);
  }
  TcpStream& stream() { return *stream_; }

 private:
  friend class TcpStream;
  explicit TcpReadHalf(TcpStream& stream) : stream_(&stream) {}
  TcpStream* stream_;
};

// A view of a stream that writes. Dropping: nothing.
class TcpWriteHalf {
 public:
  static constexpr bool kBorrows = true;

  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from) {
    return stream_->PollWrite(cx, from);
  }
  Polled<absl::StatusOr<size_t>> PollWriteV(Context& cx,
                                            std::span<const iovec> from) {
    return stream_->PollWriteV(cx, from);
  }
  Polled<absl::Status> PollFlush(Context& cx) { return stream_->PollFlush(cx); }
  Polled<absl::Status> PollShutdown(Context& cx) {
    return stream_->PollShutdown(cx);
  }
  TcpStream& stream() { return *stream_; }

 private:
  friend class TcpStream;
  explicit TcpWriteHalf(TcpStream& stream) : stream_(&stream) {}
  TcpStream* stream_;
};

// An owner of a stream that reads. Dropping: the connection is closed when the
// other half is gone too.
class [[nodiscard]] OwnedTcpReadHalf {
 public:
  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to) {
    return stream_->PollRead(cx, to);
  }
  Polled<absl::StatusOr<size_t>> PollReadV(Context& cx,
                                           std::span<const iovec> to) {
    return stream_->PollReadV(cx, to);
  }
  TcpStream& stream() { return *stream_; }

  // The stream that both halves came from. CHECK-fails for halves of two
  // different streams.
  TcpStream Reunite(OwnedTcpWriteHalf write_half) &&;

 private:
  friend class TcpStream;
  explicit OwnedTcpReadHalf(std::shared_ptr<TcpStream> stream)
      : stream_(std::move(stream)) {}
  std::shared_ptr<TcpStream> stream_;
};

// An owner of a stream that writes. Dropping: ends the direction, so that the
// peer reads the end; Forget() leaves it open. The connection is closed when
// the other half is gone too.
class [[nodiscard]] OwnedTcpWriteHalf {
 public:
  OwnedTcpWriteHalf(OwnedTcpWriteHalf&&) noexcept = default;
  OwnedTcpWriteHalf& operator=(OwnedTcpWriteHalf&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~OwnedTcpWriteHalf();

  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from) {
    return stream_->PollWrite(cx, from);
  }
  Polled<absl::StatusOr<size_t>> PollWriteV(Context& cx,
                                            std::span<const iovec> from) {
    return stream_->PollWriteV(cx, from);
  }
  Polled<absl::Status> PollFlush(Context& cx) { return stream_->PollFlush(cx); }
  Polled<absl::Status> PollShutdown(Context& cx) {
    return stream_->PollShutdown(cx);
  }
  TcpStream& stream() { return *stream_; }

  // Gives this half up without ending the direction.
  void Forget() && { stream_.reset(); }

 private:
  friend class TcpStream;
  friend class OwnedTcpReadHalf;
  explicit OwnedTcpWriteHalf(std::shared_ptr<TcpStream> stream)
      : stream_(std::move(stream)) {}
  std::shared_ptr<TcpStream> stream_;
};

}  // namespace weft::net

#endif  // WEFT_NET_TCP_STREAM_H_
