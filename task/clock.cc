// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/clock.h"

#include "weft/task/instant.h"

namespace weft {
namespace {

class RealClock final : public Clock {
 public:
  Instant Now() const override { return Instant::Now(); }
};

}  // namespace

const Clock& Clock::Real() {
  static const RealClock* const clock = new RealClock;
  return *clock;
}

}  // namespace weft
