// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ListenOptions: how a listener is bound.
//
//   auto options = net::ListenOptions().Backlog(128).ReusePort();
//
// Thread safety: as an int.
#ifndef WEFT_NET_LISTEN_OPTIONS_H_
#define WEFT_NET_LISTEN_OPTIONS_H_

namespace weft::net {

class ListenOptions {
 public:
  ListenOptions() = default;

  // Connections that the system keeps until they are accepted; it lowers this
  // to its own limit (net.core.somaxconn).
  ListenOptions& Backlog(int connections) {
    backlog_ = connections;
    return *this;
  }
  // Binding succeeds while connections of an earlier listener linger
  // (SO_REUSEADDR). On as made. A port that is listened on is refused anyway.
  ListenOptions& ReuseAddress(bool on = true) {
    reuse_address_ = on;
    return *this;
  }
  // Several listeners share the port, and the system spreads connections over
  // them (SO_REUSEPORT).
  ListenOptions& ReusePort(bool on = true) {
    reuse_port_ = on;
    return *this;
  }
  // Of IPv6 listeners: whether IPv4 connections are not taken. On as made, on
  // every system.
  ListenOptions& Ipv6Only(bool on = true) {
    ipv6_only_ = on;
    return *this;
  }

  int backlog() const { return backlog_; }
  bool reuse_address() const { return reuse_address_; }
  bool reuse_port() const { return reuse_port_; }
  bool ipv6_only() const { return ipv6_only_; }

 private:
  int backlog_ = 4096;
  bool reuse_address_ = true;
  bool reuse_port_ = false;
  bool ipv6_only_ = true;
};

}  // namespace weft::net

#endif  // WEFT_NET_LISTEN_OPTIONS_H_
