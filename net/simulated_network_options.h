// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SimulatedNetworkOptions: what a SimulatedNetwork does to packets.
//
// As made, it is a network of a few milliseconds that loses nothing and cuts streams
// in unexpected places.
//
// Thread safety: as an int.
#ifndef WEFT_NET_SIMULATED_NETWORK_OPTIONS_H_
#define WEFT_NET_SIMULATED_NETWORK_OPTIONS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace weft::net {

struct SimulatedNetworkOptions {
  // How long a packet takes: one of ten times from the least to the most, so that
  // some are due at the same moment and arrive in any order, and while tasks run.
  absl::Duration latency_min = absl::Milliseconds(1);
  absl::Duration latency_max = absl::Milliseconds(10);

  // How likely a packet is lost, from 0 to 1. A stream sends it again after
  // `retransmit`, after twice that when it is lost again, and so on; when it has
  // not arrived `timeout` after the first time, the stream has timed out; if that is
  // infinite, it never does.
  double loss = 0;
  absl::Duration retransmit = absl::Milliseconds(200);
  absl::Duration timeout = absl::Minutes(2);

  // How likely a datagram that is not lost arrives twice.
  double duplication = 0;

  // How likely a read or a write of a stream is given only a part of what it could
  // have, from 0 to 1.
  double cut = 0.5;

  // How many bytes a stream takes, in each direction, that the peer has not read; and
  // how many wait at a socket for datagrams. Requires: not 0.
  size_t window = 64 << 10;
};

}  // namespace weft::net

#endif  // WEFT_NET_SIMULATED_NETWORK_OPTIONS_H_
