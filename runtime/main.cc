// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/main.h"

#include <cstdio>
#include <string>

#include "absl/status/status.h"

namespace weft::runtime_internal {
namespace {

// What weft means by a status that has a code and no message.
const char* HintFor(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kCancelled:
      return "a task or a job was cancelled, or what ran it was shut down";
    case absl::StatusCode::kDeadlineExceeded:
      return "a Timeout ran out";
    case absl::StatusCode::kFailedPrecondition:
      return "the other side is gone, or the object was closed";
    case absl::StatusCode::kResourceExhausted:
      return "there was no room: a queue or a pool is full";
    default:
      return "(no message)";
  }
}

}  // namespace

int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  std::string text = status.ToString();
  if (status.message().empty()) text += HintFor(status.code());
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

}  // namespace weft::runtime_internal
