// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Service: what all connections of a server share.
//
// Thread safety: any thread.
// Lifetime: outlives the tasks of the connections, which hold it by a
// std::shared_ptr.
#ifndef WEFT_EXAMPLES_HTTP_SERVICE_H_
#define WEFT_EXAMPLES_HTTP_SERVICE_H_

#include <cstddef>
#include <utility>

#include "absl/time/time.h"
#include "weft/examples/http/access_log.h"
#include "weft/examples/http/site.h"
#include "weft/select/cancellation_token.h"
#include "weft/sync/semaphore.h"

namespace http {

// How long a client may keep a connection waiting.
struct Patience {
  Patience() = default;
  Patience(absl::Duration head, absl::Duration idle, absl::Duration send)
      : head(head), idle(idle), send(send) {}

  absl::Duration head = absl::Seconds(10);  // for a request, once begun
  absl::Duration idle = absl::Seconds(60);  // for the next request
  absl::Duration send = absl::Seconds(30);  // for any byte to be taken
};

struct Service {
  Service(Site site, Patience patience, int max_connections, int log_fd)
      : site(std::move(site)),
        patience(patience),
        max_connections(static_cast<size_t>(max_connections)),
        places(this->max_connections),
        log(log_fd) {}

  const Site site;
  const Patience patience;
  const size_t max_connections;
  // Each connection has a permit.
  weft::sync::Semaphore places;
  AccessLog log;
  // Cancelled when no further requests are to be read.
  weft::CancellationSource stopping;
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_SERVICE_H_
