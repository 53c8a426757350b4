// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Options: what the command line of the file server says.
//
// Thread safety: as a std::string.
#ifndef WEFT_EXAMPLES_HTTP_OPTIONS_H_
#define WEFT_EXAMPLES_HTTP_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace http {

struct Options {
  Options() = default;  // not an aggregate: coroutines take it as a parameter

  std::string root = ".";
  std::string metrics;  // where they are shown; empty: nowhere
  std::string bind = "127.0.0.1";
  uint16_t port = 8080;  // 0: a free one
  int threads = 0;       // 0: as many as there are processors
  int max_connections = 1000;
  absl::Duration head_timeout = absl::Seconds(10);
  absl::Duration idle_timeout = absl::Seconds(60);
  absl::Duration send_timeout = absl::Seconds(30);
  absl::Duration shutdown_deadline = absl::Seconds(10);
};

// The flags of the command line; an unknown flag or a value that is none ends
// the process with a message that names it, and --help with an explanation of
// all. Errors: a value that makes no sense, an argument that is no flag.
absl::StatusOr<Options> ParseOptions(int argc, char** argv);

// `path` as seen from the folder in which the user called the program, which
// under `bazel run` is not the program's own.
std::string FromCallersFolder(const std::string& path);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_OPTIONS_H_
