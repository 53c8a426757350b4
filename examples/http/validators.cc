// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/validators.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"
#include "weft/examples/http/http_date.h"

namespace http {
namespace {

// True if the comma-separated `list` of If-None-Match holds `etag`. The
// comparison is the weak one: a leading W/ is ignored.
bool ListHolds(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size()
                                                       : comma + 1);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) {
      item.remove_prefix(1);
    }
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) {
      item.remove_suffix(1);
    }
    if (item.substr(0, 2) == "W/") item.remove_prefix(2);
    if (item == "*" || item == etag) return true;
  }
  return false;
}

}  // namespace

Validators::Validators(uint64_t size, absl::Time modified)
    : etag_(absl::StrFormat("\"%x-%x\"", size, absl::ToUnixNanos(modified))),
      modified_(absl::FromUnixSeconds(absl::ToUnixSeconds(modified))) {}

std::string Validators::LastModified() const {
  return FormatHttpDate(modified_);
}

bool Validators::Match(const Request& request) const {
  bool matches = false;
  bool has_list = false;
  for (const auto& [name, value] : request.fields) {
    if (!Request::SameName(name, "If-None-Match")) continue;
    has_list = true;
    matches = matches || ListHolds(value, etag_);
  }
  if (has_list) return matches;
  const std::optional<std::string_view> since =
      request.Field("If-Modified-Since");
  if (!since.has_value()) return false;
  const std::optional<absl::Time> time = ParseHttpDate(*since);
  return time.has_value() && modified_ <= *time;
}

bool Validators::AllowRange(const Request& request) const {
  const std::optional<std::string_view> version = request.Field("If-Range");
  if (!version.has_value()) return true;
  return *version == etag_ || *version == LastModified();
}

}  // namespace http
