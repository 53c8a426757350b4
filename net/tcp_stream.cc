// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/readiness.h"
#include "weft/io/source.h"
#include "weft/net/socket.h"
#include "weft/net/socket_address.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::net {
namespace {

using io::Direction;
using io::IoResult;
using net_internal::Describe;

// The message is made only if there is an error.
absl::StatusOr<size_t> ToCount(IoResult result, std::string_view operation,
                               const SocketAddress& peer) {
  if (result.ok()) return result.value();
  if (result.IsClosed()) return result.status(operation);
  return result.status(Describe(operation, peer));
}

size_t TotalSize(std::span<const iovec> pieces) {
  size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  return total;
}

// For recvmsg and sendmsg.
msghdr MessageOf(std::span<const iovec> pieces) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

// The outcome of a connect that was begun on `fd`: 0, or -1 with errno; EAGAIN
// if it is not decided.
ssize_t ConnectResult(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return -1;
  if (error == 0) {
    // Waking for no reason is allowed, so no error is not yet success.
    sockaddr_storage peer;
    size = sizeof(peer);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0) {
      return 0;
    }
    error = errno == ENOTCONN ? EAGAIN : errno;
  }
  errno = error;
  return -1;
}

// A connect to an ephemeral port of this machine at which nobody listens may be
// given that very port as its own, and then TCP connects it to itself.
bool IsConnectedToItself(int fd, const SocketAddress& peer) {
  absl::StatusOr<SocketAddress> local = net_internal::LocalAddressOf(fd);
  return local.ok() && *local == peer;
}

}  // namespace

TcpConnectFuture TcpStream::Connect(const SocketAddress& address) {
  return TcpConnectFuture(address);
}

absl::StatusOr<TcpStream> TcpStream::FromFd(io::Fd fd) {
  absl::StatusOr<SocketAddress> peer = net_internal::PeerAddressOf(fd.get());
  if (!peer.ok()) return peer.status();
  absl::StatusOr<io::Source> source = io::Source::Create(std::move(fd));
  if (!source.ok()) return source.status();
  return TcpStream(*std::move(source), *peer);
}

Polled<absl::StatusOr<size_t>> TcpStream::PollRead(Context& cx,
                                                   std::span<char> to) {
  if (to.empty()) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = source_.PollIo(
      cx, Direction::kRead,
      [&](int fd) { return recv(fd, to.data(), to.size(), 0); }, to.size());
  if (result.IsPending()) return kPending;
  return ToCount(*result, "recv", peer_);
}

Polled<absl::StatusOr<size_t>> TcpStream::PollWrite(
    Context& cx, std::span<const char> from) {
  if (from.empty()) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = source_.PollIo(
      cx, Direction::kWrite,
      [&](int fd) { return send(fd, from.data(), from.size(), MSG_NOSIGNAL); },
      from.size());
  if (result.IsPending()) return kPending;
  return ToCount(*result, "send", peer_);
}

Polled<absl::StatusOr<size_t>> TcpStream::PollReadV(Context& cx,
                                                    std::span<const iovec> to) {
  to = to.first(std::min<size_t>(to.size(), IOV_MAX));
  const size_t total = TotalSize(to);
  if (total == 0) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = source_.PollIo(
      cx, Direction::kRead,
      [&](int fd) {
        msghdr message = MessageOf(to);
        return recvmsg(fd, &message, 0);
      },
      total);
  if (result.IsPending()) return kPending;
  return ToCount(*result, "recv", peer_);
}

Polled<absl::StatusOr<size_t>> TcpStream::PollWriteV(
    Context& cx, std::span<const iovec> from) {
  from = from.first(std::min<size_t>(from.size(), IOV_MAX));
  const size_t total = TotalSize(from);
  if (total == 0) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = source_.PollIo(
      cx, Direction::kWrite,
      [&](int fd) {
        const msghdr message = MessageOf(from);
        return sendmsg(fd, &message, MSG_NOSIGNAL);
      },
      total);
  if (result.IsPending()) return kPending;
  return ToCount(*result, "send", peer_);
}

Polled<absl::Status> TcpStream::PollFlush(Context&) { return absl::OkStatus(); }

Polled<absl::Status> TcpStream::PollShutdown(Context&) {
  return Shutdown(ShutdownHow::kWrite);
}

absl::Status TcpStream::Shutdown(ShutdownHow how) {
  const int direction = how == ShutdownHow::kRead    ? SHUT_RD
                        : how == ShutdownHow::kWrite ? SHUT_WR
                                                     : SHUT_RDWR;
  const IoResult result =
      source_.Call([&](int fd) -> ssize_t { return shutdown(fd, direction); });
  // The connection was reset: both directions have ended.
  if (result.error() == ENOTCONN) return absl::OkStatus();
  return ToCount(result, "shutdown", peer_).status();
}

absl::StatusOr<SocketAddress> TcpStream::local_address() {
  absl::StatusOr<SocketAddress> address = io::ClosedStatus();
  source_
      .Call([&](int fd) -> ssize_t {
        address = net_internal::LocalAddressOf(fd);
        return 0;
      })
      .status("getsockname")
      .IgnoreError();
  return address;
}

absl::Status TcpStream::SetNoDelay(bool on) {
  return net_internal::SetOption(source_, IPPROTO_TCP, TCP_NODELAY, on,
                                 "set TCP_NODELAY");
}

absl::StatusOr<bool> TcpStream::no_delay() {
  absl::StatusOr<int> value = net_internal::GetOption(
      source_, IPPROTO_TCP, TCP_NODELAY, "get TCP_NODELAY");
  if (!value.ok()) return value.status();
  return *value != 0;
}

std::pair<TcpReadHalf, TcpWriteHalf> TcpStream::Split() {
  return {TcpReadHalf(*this), TcpWriteHalf(*this)};
}

std::pair<OwnedTcpReadHalf, OwnedTcpWriteHalf> TcpStream::IntoSplit() && {
  auto shared = std::make_shared<TcpStream>(std::move(*this));
  return {OwnedTcpReadHalf(shared), OwnedTcpWriteHalf(shared)};
}

Polled<TcpConnectFuture::Output> TcpConnectFuture::Poll(Context& cx) {
  if (!source_.has_value()) {
    if (!cx.HasBudget()) return kPending;
    absl::Status started = Start();
    if (!started.ok()) return Output(started);
  }
  const Polled<IoResult> result =
      source_->PollIo(cx, Direction::kWrite, &ConnectResult);
  if (result.IsPending()) return kPending;
  io::Source source = *std::move(source_);
  source_.reset();
  if (result->error() != 0) return Output(Failed(result->error()));
  if (!result->ok()) return Output(result->status("connect"));
  bool to_itself = false;
  source
      .Call([&](int fd) -> ssize_t {
        to_itself = IsConnectedToItself(fd, address_);
        return 0;
      })
      .status("getsockname")
      .IgnoreError();
  if (to_itself) return Output(Failed(ECONNREFUSED));
  return Output(TcpStream(std::move(source), address_));
}

// Begins the attempt. What the first call says is not believed, but asked for
// again when the socket is writable: it may be "in progress" or interrupted,
// which is the same here.
absl::Status TcpConnectFuture::Start() {
  io::Fd fd = net_internal::OpenTcpSocket(address_);
  if (!fd.IsValid()) return Failed(errno);
  if (connect(fd.get(), address_.data(), address_.size()) != 0 &&
      errno != EINPROGRESS && errno != EINTR) {
    return Failed(errno);
  }
  source_.emplace(io::Source::Adopt(std::move(fd)));
  return absl::OkStatus();
}

absl::Status TcpConnectFuture::Failed(int error) const {
  return ErrnoStatus(error, Describe("connect", address_));
}

TcpStream OwnedTcpReadHalf::Reunite(OwnedTcpWriteHalf write_half) && {
  WEFT_CHECK(stream_ != nullptr && stream_ == write_half.stream_,
             "Reunite() needs the two halves of one stream");
  std::move(write_half).Forget();
  TcpStream stream = std::move(*stream_);
  stream_.reset();
  return stream;
}

OwnedTcpWriteHalf::~OwnedTcpWriteHalf() {
  if (stream_ != nullptr) {
    stream_->Shutdown(ShutdownHow::kWrite).IgnoreError();
  }
}

}  // namespace weft::net
