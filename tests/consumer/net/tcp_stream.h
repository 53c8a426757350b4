// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Nothing of weft: a user's class in a user's folder, both named like ours.
#ifndef CONSUMER_NET_TCP_STREAM_H_
#define CONSUMER_NET_TCP_STREAM_H_

namespace net {

class TcpStream {
 public:
  const char* Name() const { return "the consumer's own"; }
};

}  // namespace net

#endif  // CONSUMER_NET_TCP_STREAM_H_
