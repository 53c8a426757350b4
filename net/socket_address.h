// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SocketAddress: an IP address and a port; where a socket is or goes to.
//
//   auto parsed = net::SocketAddress::Parse("[::1]:80");  // a StatusOr
//   auto any = net::SocketAddress::Ipv4Loopback(0);
//
// A value. No names are looked up.
//
// Thread safety: as an int.
#ifndef WEFT_NET_SOCKET_ADDRESS_H_
#define WEFT_NET_SOCKET_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace weft::net {

enum class AddressFamily { kIpv4, kIpv6 };

class SocketAddress {
 public:
  // 0.0.0.0:0
  SocketAddress() : SocketAddress(in_addr{}, 0) {}
  SocketAddress(const in_addr& ip, uint16_t port);
  SocketAddress(const in6_addr& ip, uint16_t port, uint32_t scope_id = 0);

  // What a service on this machine alone is bound to, and one that everybody
  // reaches.
  static SocketAddress Ipv4Loopback(uint16_t port);
  static SocketAddress Ipv6Loopback(uint16_t port);
  static SocketAddress Ipv4Any(uint16_t port);
  static SocketAddress Ipv6Any(uint16_t port);

  // "127.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80", "[fe80::1%2]:80": what
  // ToString() gives, and nothing that would need guessing. InvalidArgument
  // else, which says what is wrong.
  static absl::StatusOr<SocketAddress> Parse(std::string_view text);
  // The same with the address ("::1", with or without brackets) and the port
  // apart.
  static absl::StatusOr<SocketAddress> ParseIp(std::string_view ip,
                                               uint16_t port);
  // From what the system filled in. InvalidArgument if it is neither IPv4 nor
  // IPv6.
  static absl::StatusOr<SocketAddress> FromSockaddr(const sockaddr* address,
                                                    socklen_t size);

  AddressFamily family() const {
    return address_.any.sa_family == AF_INET ? AddressFamily::kIpv4
                                             : AddressFamily::kIpv6;
  }
  uint16_t port() const;
  SocketAddress WithPort(uint16_t port) const;
  bool IsLoopback() const;

  // The address alone: "127.0.0.1", "fe80::1%2".
  std::string IpToString() const;
  std::string ToString() const;

  // For system calls.
  const sockaddr* data() const { return &address_.any; }
  socklen_t size() const {
    return family() == AddressFamily::kIpv4 ? sizeof(sockaddr_in)
                                            : sizeof(sockaddr_in6);
  }

  friend bool operator==(const SocketAddress& a, const SocketAddress& b);
  template <class H>
  friend H AbslHashValue(H state, const SocketAddress& a) {
    return H::combine_contiguous(H::combine(std::move(state), a.port()),
                                 a.ip_bytes(), a.ip_size());
  }

 private:
  // The address in network byte order.
  const char* ip_bytes() const;
  size_t ip_size() const {
    return family() == AddressFamily::kIpv4 ? sizeof(in_addr)
                                            : sizeof(in6_addr);
  }

  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address_;
};

}  // namespace weft::net

#endif  // WEFT_NET_SOCKET_ADDRESS_H_
