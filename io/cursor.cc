// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/cursor.h"

#include <stddef.h>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace weft::io::io_internal {

absl::Status AddProgress(const absl::Status& status, size_t done, size_t size) {
  absl::Status result(status.code(),
                      absl::StrCat(status.message(), " (after ", done, " of ",
                                   size, " bytes)"));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    result.SetPayload(type, payload);
  });
  return result;
}

absl::Status EndOfStreamStatus(size_t done, size_t size) {
  return absl::OutOfRangeError(
      absl::StrCat("the stream ended after ", done, " of ", size, " bytes"));
}

}  // namespace weft::io::io_internal
