// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/accept_connections.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/examples/http/connection.h"
#include "weft/net/tcp_stream.h"
#include "weft/select/cancellation_token.h"
#include "weft/sync/semaphore.h"
#include "weft/task/spawner.h"

namespace http {
namespace {

using Place = weft::sync::Semaphore::Permit;

// Serves `stream`, then gives the place back.
weft::Task<void> Serve(weft::net::TcpStream stream, Place place,
                       std::shared_ptr<Service> service) {
  const Place held = std::move(place);
  std::string client = stream.peer_address().IpToString();
  // A response is written in as few pieces as possible; none has to wait for
  // the next. Without it the server is only slower.
  stream.SetNoDelay(true).IgnoreError();
  co_await ServeConnection(std::move(stream), std::move(client), service);
}

}  // namespace

weft::Task<void> AcceptConnections(weft::net::TcpListener listener,
                                   std::shared_ptr<Service> service) {
  const weft::CancellationToken stop = service->stopping.token();
  for (;;) {
    std::optional<absl::StatusOr<Place>> place =
        co_await stop.RunUntilCancelled(service->places.Acquire());
    if (!place.has_value()) co_return;
    std::optional<absl::StatusOr<weft::net::TcpStream>> stream =
        co_await stop.RunUntilCancelled(listener.Accept());
    if (!stream.has_value()) co_return;
    if (!stream->ok()) {
      // Out of descriptors, most likely: the listener waits before it tries
      // again, and other connections may end meanwhile.
      service->log.Add(stream->status().ToString() + '\n');
      continue;
    }
    auto served = Serve(**std::move(stream), **std::move(place), service);
    weft::Spawn(std::move(served)).Detach();
  }
}

weft::Task<void> AwaitConnections(std::shared_ptr<Service> service) {
  const absl::StatusOr<Place> all =
      co_await service->places.Acquire(service->max_connections);
}

}  // namespace http
