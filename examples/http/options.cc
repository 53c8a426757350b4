// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/options.h"

#include <cstdlib>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

ABSL_FLAG(std::string, root, http::Options().root, "the folder to serve");
ABSL_FLAG(
    std::string, metrics, http::Options().metrics,
    "a path, such as 'metrics', at which the server's own numbers are shown "
    "as Prometheus wants them");
ABSL_FLAG(std::string, bind, http::Options().bind,
          "the address to listen on; 0.0.0.0 or :: for all");
ABSL_FLAG(uint16_t, port, http::Options().port,
          "the port to listen on; 0 for a free one");
ABSL_FLAG(int, threads, http::Options().threads,
          "threads that serve; 0 for one for each processor");
ABSL_FLAG(int, max_connections, http::Options().max_connections,
          "connections at once; further ones wait to be accepted");
ABSL_FLAG(absl::Duration, head_timeout, http::Options().head_timeout,
          "how long the head of a request may take to arrive");
ABSL_FLAG(absl::Duration, idle_timeout, http::Options().idle_timeout,
          "how long a connection may stay without a request");
ABSL_FLAG(absl::Duration, send_timeout, http::Options().send_timeout,
          "how long a client may take no byte of a response");
ABSL_FLAG(absl::Duration, shutdown_deadline, http::Options().shutdown_deadline,
          "after SIGINT or SIGTERM, how long responses may take to end");

namespace http {

absl::StatusOr<Options> ParseOptions(int argc, char** argv) {
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument: ", rest[1], " (try --help)"));
  }
  Options options;
  options.root = absl::GetFlag(FLAGS_root);
  options.metrics = absl::GetFlag(FLAGS_metrics);
  options.bind = absl::GetFlag(FLAGS_bind);
  options.port = absl::GetFlag(FLAGS_port);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.max_connections = absl::GetFlag(FLAGS_max_connections);
  options.head_timeout = absl::GetFlag(FLAGS_head_timeout);
  options.idle_timeout = absl::GetFlag(FLAGS_idle_timeout);
  options.send_timeout = absl::GetFlag(FLAGS_send_timeout);
  options.shutdown_deadline = absl::GetFlag(FLAGS_shutdown_deadline);
  if (options.threads < 0) {
    return absl::InvalidArgumentError("--threads must not be negative");
  }
  if (options.max_connections < 1) {
    return absl::InvalidArgumentError("--max_connections must be at least 1");
  }
  return options;
}

std::string FromCallersFolder(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder == nullptr || path.starts_with('/')) return path;
  return std::string(folder) + '/' + path;
}

}  // namespace http
