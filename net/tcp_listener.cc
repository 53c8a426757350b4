// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/tcp_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/source.h"
#include "weft/net/accept_backoff.h"
#include "weft/net/listen_options.h"
#include "weft/net/socket.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::net {
namespace {

using net_internal::Describe;

// Errors of a connection that was over before it was accepted; accept(2) says
// which. They take it off the queue, so trying again gets to the next one.
bool IsOfTheConnection(int error) {
  switch (error) {
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
      return true;
    default:
      return false;
  }
}

bool IsShortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS ||
         error == ENOMEM;
}

int SetInt(int fd, int level, int option, bool value) {
  const int number = value ? 1 : 0;
  return setsockopt(fd, level, option, &number, sizeof(number));
}

// 0, or -1 with errno.
int BindAndListen(int fd, const SocketAddress& address,
                  const ListenOptions& options) {
  if (SetInt(fd, SOL_SOCKET, SO_REUSEADDR, options.reuse_address()) != 0 ||
      SetInt(fd, SOL_SOCKET, SO_REUSEPORT, options.reuse_port()) != 0) {
    return -1;
  }
  if (address.family() == AddressFamily::kIpv6 &&
      SetInt(fd, IPPROTO_IPV6, IPV6_V6ONLY, options.ipv6_only()) != 0) {
    return -1;
  }
  if (bind(fd, address.data(), address.size()) != 0) return -1;
  return listen(fd, options.backlog());
}

}  // namespace

absl::StatusOr<TcpListener> TcpListener::Bind(const SocketAddress& address,
                                              const ListenOptions& options) {
  io::Fd fd = net_internal::OpenTcpSocket(address);
  if (!fd.IsValid() || BindAndListen(fd.get(), address, options) != 0) {
    return ErrnoStatus(errno, Describe("listen", address));
  }
  absl::StatusOr<SocketAddress> local = net_internal::LocalAddressOf(fd.get());
  if (!local.ok()) return local.status();
  return TcpListener(io::Source::Adopt(std::move(fd)), *local);
}

absl::StatusOr<TcpListener> TcpListener::FromFd(io::Fd fd) {
  absl::StatusOr<SocketAddress> local = net_internal::LocalAddressOf(fd.get());
  if (!local.ok()) return local.status();
  absl::StatusOr<io::Source> source = io::Source::Create(std::move(fd));
  if (!source.ok()) return source.status();
  return TcpListener(*std::move(source), *local);
}

TcpListener::TcpListener(io::Source source, const SocketAddress& local)
    : source_(std::move(source)),
      local_(local),
      backoff_(std::make_shared<net_internal::AcceptBackoff>()) {}

AcceptFuture TcpListener::Accept() {
  return AcceptFuture(source_, local_, backoff_);
}

ssize_t AcceptFuture::AcceptCall::operator()(int listener) const {
  for (;;) {
    sockaddr_storage storage;
    socklen_t size = sizeof(storage);
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    const int fd =
        accept4(listener, address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (IsOfTheConnection(errno)) continue;
      return -1;
    }
    peer_ = SocketAddress::FromSockaddr(address, size).value_or(peer_);
    return fd;
  }
}

Polled<AcceptFuture::Output> AcceptFuture::Poll(Context& cx) {
  if (backoff_->IsActive() && !PollPause(cx)) return kPending;
  const Polled<io::IoResult> result = call_.Poll(cx);
  if (result.IsPending()) return kPending;
  if (!result->ok()) return Output(OnError(*result, cx));
  backoff_->OnAccepted();
  io::Fd fd(static_cast<int>(result->value()));
  return Output(TcpStream(io::Source::Adopt(std::move(fd)), call_.op().peer()));
}

// True when the pause is over.
bool AcceptFuture::PollPause(Context& cx) {
  if (!pause_.has_value()) pause_.emplace(backoff_->retry_at());
  // The unit of budget is for the accept.
  Context inner = cx.WithBudget(nullptr);
  if (pause_->Poll(inner).IsPending()) return false;
  pause_.reset();
  return true;
}

absl::Status AcceptFuture::OnError(io::IoResult result, Context& cx) {
  if (result.IsClosed()) return result.status("accept");
  if (IsShortage(result.error())) backoff_->OnShortage(cx.clock().Now());
  return result.status(Describe("accept", local_));
}

}  // namespace weft::net
