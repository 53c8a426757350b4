// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/source.h"
#include "weft/net/socket_address.h"
#include "weft/task/status.h"

namespace weft::net_internal {
namespace {

using NameCall = int(int, sockaddr*, socklen_t*);

absl::StatusOr<net::SocketAddress> NameOf(int fd, NameCall* call,
                                          std::string_view operation) {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (call(fd, address, &size) != 0) return ErrnoStatus(errno, operation);
  return net::SocketAddress::FromSockaddr(address, size);
}

}  // namespace

io::Fd OpenTcpSocket(const net::SocketAddress& address) {
  return io::Fd(socket(address.data()->sa_family,
                       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                       IPPROTO_TCP));
}

std::string Describe(std::string_view operation,
                     const net::SocketAddress& address) {
  std::string text(operation);
  text += ' ';
  text += address.ToString();
  return text;
}

absl::StatusOr<net::SocketAddress> LocalAddressOf(int fd) {
  return NameOf(fd, &getsockname, "getsockname");
}

absl::StatusOr<net::SocketAddress> PeerAddressOf(int fd) {
  return NameOf(fd, &getpeername, "getpeername");
}

absl::Status SetOption(io::Source& source, int level, int option, int value,
                       std::string_view name) {
  return source
      .Call([&](int fd) -> ssize_t {
        return setsockopt(fd, level, option, &value, sizeof(value));
      })
      .status(name);
}

absl::StatusOr<int> GetOption(io::Source& source, int level, int option,
                              std::string_view name) {
  int value = 0;
  const io::IoResult result = source.Call([&](int fd) -> ssize_t {
    socklen_t size = sizeof(value);
    return getsockopt(fd, level, option, &value, &size);
  });
  if (!result.ok()) return result.status(name);
  return value;
}

}  // namespace weft::net_internal
