// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Socket calls that several files of this package make. Internal.
//
// Thread safety: any thread.
#ifndef WEFT_NET_SOCKET_H_
#define WEFT_NET_SOCKET_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/source.h"
#include "weft/net/socket_address.h"

namespace weft::net_internal {

// A TCP socket of the address' family: non-blocking, close-on-exec. Not valid,
// with errno, on failure.
io::Fd OpenTcpSocket(const net::SocketAddress& address);

// The operation's name and the address, for a message.
std::string Describe(std::string_view operation,
                     const net::SocketAddress& address);

absl::StatusOr<net::SocketAddress> LocalAddressOf(int fd);
absl::StatusOr<net::SocketAddress> PeerAddressOf(int fd);

// setsockopt(2) and getsockopt(2) for options that are an int; `name` is for
// messages.
absl::Status SetOption(io::Source& source, int level, int option, int value,
                       std::string_view name);
absl::StatusOr<int> GetOption(io::Source& source, int level, int option,
                              std::string_view name);

}  // namespace weft::net_internal

#endif  // WEFT_NET_SOCKET_H_
