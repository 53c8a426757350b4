// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A program that sleeps with weft and has its own net/ and io/. Without a test
// framework, so that what it depends on is @weft//timer and nothing else.

#include <cstdio>
#include <cstring>

#include "absl/time/time.h"
#include "io/reactor.h"
#include "net/tcp_stream.h"
#include "weft/task/block_on.h"
#include "weft/timer/sleep.h"

int main() {
  const char* own = "the consumer's own";
  if (std::strcmp(io::Reactor().Name(), own) != 0) return 1;
  if (std::strcmp(net::TcpStream().Name(), own) != 0) return 2;

  weft::BlockOn(weft::timer::After(absl::Milliseconds(5)));
  std::puts("slept");
  return 0;
}
