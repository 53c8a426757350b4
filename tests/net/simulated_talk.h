// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the simulated network share: two hosts that are connected, and
// tasks that send and receive.
#ifndef WEFT_TESTS_NET_SIMULATED_TALK_H_
#define WEFT_TESTS_NET_SIMULATED_TALK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/io/async_io.h"
#include "weft/io/read.h"
#include "weft/io/write.h"
#include "weft/io/write_all.h"
#include "weft/net/simulated_listener.h"
#include "weft/net/simulated_network.h"
#include "weft/net/simulated_network_options.h"
#include "weft/net/simulated_stream.h"
#include "weft/task/instant.h"
#include "weft/task/task.h"
#include "weft/timer/sleep.h"

namespace weft::net {

struct SimulatedTalk {
  explicit SimulatedTalk(uint64_t seed = 1,
                         const SimulatedNetworkOptions& options = {})
      : executor({.seed = seed}),
        network(executor, options),
        listener(*network.Listen("server", 80)),
        client(*executor.Run(network.Connect("client", "server", 80))),
        server(*executor.Run(listener.Accept())) {}

  template <class F>
  auto Run(F&& future) {
    return executor.Run(future);
  }
  // Lets virtual time pass, and happen what then happens.
  void Pass(absl::Duration d) {
    EXPECT_TRUE(executor.Run(timer::At(Now() + d)).ok());
  }
  Instant Now() { return executor.clock().Now(); }

  DeterministicExecutor executor;
  SimulatedNetwork network;
  SimulatedListener listener;
  SimulatedStream client;
  SimulatedStream server;
};

// `size` bytes that tell where they belong.
inline std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i / 7 + i);
  return bytes;
}

// `size` bytes, or fewer if the stream ends before.
template <io::AsyncRead R>
Task<absl::StatusOr<std::string>> Receive(R& reader, size_t size) {
  std::string all(size, '\0');
  size_t done = 0;
  while (done < size) {
    const absl::StatusOr<size_t> n = co_await io::Read(
        reader, std::span<char>(all.data() + done, size - done));
    if (!n.ok()) co_return n.status();
    if (*n == 0) break;
    done += *n;
  }
  all.resize(done);
  co_return all;
}

// Everything up to the end.
template <io::AsyncRead R>
Task<absl::StatusOr<std::string>> ReceiveAll(R& reader) {
  std::string all;
  std::string buffer(1000, '\0');
  for (;;) {
    const absl::StatusOr<size_t> n = co_await io::Read(reader, buffer);
    if (!n.ok()) co_return n.status();
    if (*n == 0) co_return all;
    all.append(buffer, 0, *n);
  }
}

// All of `bytes`, and then the end.
template <io::AsyncWrite W>
Task<absl::Status> SendAll(W& writer, std::string bytes) {
  absl::Status status = co_await io::WriteAll(writer, bytes);
  if (!status.ok()) co_return status;
  co_return co_await io::Shutdown(writer);
}

}  // namespace weft::net

#endif  // WEFT_TESTS_NET_SIMULATED_TALK_H_
