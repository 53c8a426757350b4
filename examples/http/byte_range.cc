// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/byte_range.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace http {
namespace {

// A number of digits only; saturates.
std::optional<uint64_t> ParseNumber(std::string_view text) {
  if (text.empty() ||
      text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  uint64_t number = 0;
  const auto result =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() ? number : UINT64_MAX;
}

}  // namespace

std::optional<ByteRange> ParseByteRange(std::string_view field, uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (field.substr(0, kUnit.size()) != kUnit) return std::nullopt;
  field.remove_prefix(kUnit.size());
  const size_t dash = field.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view before = field.substr(0, dash);
  const std::string_view after = field.substr(dash + 1);
  const std::optional<uint64_t> last = ParseNumber(after);

  if (before.empty()) {  // the last bytes
    if (!last.has_value()) return std::nullopt;
    const uint64_t length = std::min(*last, size);
    return ByteRange{size - length, length};
  }
  const std::optional<uint64_t> first = ParseNumber(before);
  if (!first.has_value()) return std::nullopt;
  if (!after.empty() && !last.has_value()) return std::nullopt;
  if (last.has_value() && *last < *first) return std::nullopt;
  if (*first >= size) return ByteRange{size, 0};
  const uint64_t end = std::min(last.value_or(size - 1), size - 1);
  return ByteRange{*first, end - *first + 1};
}

}  // namespace http
