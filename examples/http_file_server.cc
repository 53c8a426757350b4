// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// http_file_server: serves a folder over HTTP.
//
//   ./bazelw run //examples:http_file_server -- --root=. --port=8080
//
// The whole of it as tasks: one that accepts, one for each connection, one that
// writes the log, and this one, which starts them and waits for the signals
// that end it.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "http_parser.h"
#include "weft/examples/http/accept_connections.h"
#include "weft/examples/http/open_file_limit.h"
#include "weft/examples/http/options.h"
#include "weft/examples/http/response.h"
#include "weft/examples/http/service.h"
#include "weft/examples/http/site.h"
#include "weft/fs/dir.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_listener.h"
#include "weft/process/signals.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/select/select.h"
#include "weft/stream/next.h"
#include "weft/task/join_handle.h"
#include "weft/task/prometheus_text.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/timer/timeout.h"

namespace http {
namespace {

Response ShowMetrics() {
  Response response(HTTP_STATUS_OK);
  response.SetText(weft::kPrometheusContentType,
                   weft::PrometheusText(weft::Handle::Current().metrics()));
  return response;
}

weft::Task<void> WriteLog(std::shared_ptr<Service> service) {
  co_await service->log.Run();
}

absl::StatusOr<weft::net::TcpListener> Listen(const Options& options) {
  const absl::StatusOr<weft::net::SocketAddress> address =
      weft::net::SocketAddress::ParseIp(options.bind, options.port);
  if (!address.ok()) return address.status();
  return weft::net::TcpListener::Bind(*address);
}

void PrintAddress(const weft::net::SocketAddress& address) {
  std::printf("listening on http://%s/\n", address.ToString().c_str());
  std::fflush(stdout);
}

// Waits until no connection is left or the deadline has passed. A signal
// meanwhile ends the process.
weft::Task<void> Drain(weft::process::Signals& signals, const Options& options,
                       std::shared_ptr<Service> service) {
  const auto first = co_await weft::Select(
      weft::timer::Timeout(options.shutdown_deadline,
                           AwaitConnections(std::move(service))),
      weft::Next(signals));
  if (first.index() == 1) _exit(128 + std::get<1>(first).value.value_or(0));
}

// Serves until a signal comes.
weft::Task<absl::Status> Run(const Options& options) {
  absl::StatusOr<weft::process::Signals> signals =
      weft::process::Signals::Create({SIGINT, SIGTERM});
  if (!signals.ok()) co_return signals.status();
  absl::StatusOr<weft::fs::Dir> root =
      co_await weft::fs::Dir::Open(FromCallersFolder(options.root));
  if (!root.ok()) co_return root.status();
  absl::StatusOr<weft::net::TcpListener> listener = Listen(options);
  if (!listener.ok()) co_return listener.status();
  PrintAddress(listener->local_address());

  Site site(*std::move(root));
  if (!options.metrics.empty()) site.AddPage(options.metrics, &ShowMetrics);
  auto service = std::make_shared<Service>(
      std::move(site),
      Patience(options.head_timeout, options.idle_timeout,
               options.send_timeout),
      options.max_connections, STDERR_FILENO);
  auto log = weft::Spawn(WriteLog(service));
  auto accepting =
      weft::Spawn(AcceptConnections(*std::move(listener), service));

  co_await weft::Next(*signals);
  service->log.Add("stopping; a second signal ends the server at once\n");
  service->stopping.Cancel();
  co_await accepting;
  co_await Drain(*signals, options, service);
  service->log.Close();
  // Not for long: nobody may be reading it.
  const absl::Status written =
      co_await weft::timer::Timeout(absl::Milliseconds(300), log);
  written.IgnoreError();
  co_return absl::OkStatus();
}

int Main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves a folder over HTTP");
  absl::StatusOr<Options> options = ParseOptions(argc, argv);
  absl::Status status = options.status();
  if (status.ok()) {
    RaiseOpenFileLimit();
    signal(SIGPIPE, SIG_IGN);  // a log that nobody reads any more
    weft::RuntimeBuilder builder;
    // Files in the system's memory are read at once: few threads are needed.
    builder.EnableAll().MaxBlockingThreads(16);
    if (options->threads > 0) builder.WorkerThreads(options->threads);
    absl::StatusOr<weft::Runtime> runtime = builder.Build();
    status = runtime.status();
    if (status.ok()) {
      status = runtime->BlockOn(Run(*options));
      runtime->Shutdown(absl::ZeroDuration());
    }
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "http_file_server: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace http

int main(int argc, char** argv) { return http::Main(argc, argv); }
