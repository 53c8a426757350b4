// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/status.h"

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace weft {
namespace {

constexpr absl::string_view kErrnoPayload = "type.weft.dev/errno";

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view operation) {
  absl::Status status = absl::ErrnoToStatus(
      error, absl::string_view(operation.data(), operation.size()));
  // To Abseil an address that is not there is AlreadyExists.
  if (error == EADDRNOTAVAIL) status = absl::UnavailableError(status.message());
  status.SetPayload(kErrnoPayload,
                    absl::Cord(absl::string_view(std::to_string(error))));
  return status;
}

int ErrnoOf(const absl::Status& status) {
  auto payload = status.GetPayload(kErrnoPayload);
  if (!payload.has_value()) return 0;
  const std::string text(*payload);
  int error = 0;
  std::from_chars(text.data(), text.data() + text.size(), error);
  return error;
}

}  // namespace weft
