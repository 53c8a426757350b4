// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/request.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace http {

bool Request::SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return absl::ascii_tolower(static_cast<unsigned char>(x)) ==
           absl::ascii_tolower(static_cast<unsigned char>(y));
  });
}

std::optional<std::string_view> Request::Field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (SameName(field, name)) return value;
  }
  return std::nullopt;
}

int Request::CountFields(std::string_view name) const {
  int count = 0;
  for (const auto& [field, value] : fields) {
    count += SameName(field, name);
  }
  return count;
}

}  // namespace http
