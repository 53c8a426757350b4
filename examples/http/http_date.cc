// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/http_date.h"

#include "absl/strings/string_view.h"

namespace http {
namespace {

constexpr char kPreferred[] = "%a, %d %b %Y %H:%M:%S GMT";
constexpr char kRfc850[] = "%A, %d-%b-%y %H:%M:%S GMT";
constexpr char kAsctime[] = "%a %b %e %H:%M:%S %Y";

}  // namespace

std::string FormatHttpDate(absl::Time time) {
  return absl::FormatTime(kPreferred, time, absl::UTCTimeZone());
}

std::optional<absl::Time> ParseHttpDate(std::string_view text) {
  const absl::string_view input(text.data(), text.size());
  for (const char* format : {kPreferred, kRfc850, kAsctime}) {
    absl::Time time;
    if (absl::ParseTime(format, input, absl::UTCTimeZone(), &time, nullptr)) {
      return time;
    }
  }
  return std::nullopt;
}

}  // namespace http
