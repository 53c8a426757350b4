// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Nothing of weft: a user's class in a user's folder, both named like ours.
#ifndef CONSUMER_IO_REACTOR_H_
#define CONSUMER_IO_REACTOR_H_

namespace io {

class Reactor {
 public:
  const char* Name() const { return "the consumer's own"; }
};

}  // namespace io

#endif  // CONSUMER_IO_REACTOR_H_
