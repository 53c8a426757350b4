// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AcceptConnections: a task for each connection, no more than there are places.
//
// While all places are taken nothing is accepted: further clients wait in the
// listener's queue, in the kernel.
//
// Thread safety: one task.
// Dropping: closes the listener. The connections go on.
#ifndef WEFT_EXAMPLES_HTTP_ACCEPT_CONNECTIONS_H_
#define WEFT_EXAMPLES_HTTP_ACCEPT_CONNECTIONS_H_

#include <memory>

#include "weft/examples/http/service.h"
#include "weft/net/tcp_listener.h"
#include "weft/task/task.h"

namespace http {

// Accepts connections from `listener` and spawns a task that serves each, until
// the service is stopping. What goes wrong is logged.
weft::Task<void> AcceptConnections(weft::net::TcpListener listener,
                                   std::shared_ptr<Service> service);

// Ready when there are no connections left.
weft::Task<void> AwaitConnections(std::shared_ptr<Service> service);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_ACCEPT_CONNECTIONS_H_
