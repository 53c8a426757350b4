// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/io_result.h"

#include <stddef.h>

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/task/status.h"

namespace weft::io {

absl::Status IoResult::status(std::string_view operation) const {
  if (ok()) return absl::OkStatus();
  if (error_ == SourceClosed().error_) return ClosedStatus();
  if (error_ == ReactorClosed().error_) return ReactorClosedStatus();
  return ErrnoStatus(error_, operation);
}

absl::StatusOr<size_t> IoResult::Get(std::string_view operation) const {
  if (ok()) return value_;
  return status(operation);
}

absl::Status ClosedStatus() {
  return absl::FailedPreconditionError("the descriptor was closed");
}

absl::Status ReactorClosedStatus() {
  return absl::UnavailableError(
      "the reactor that watched the descriptor was destroyed");
}

}  // namespace weft::io
