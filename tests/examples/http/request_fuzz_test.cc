// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Whatever bytes a client sends: how they are cut changes nothing, targets stay
// beneath the root, and ranges and dates are in bounds. The first byte says how
// the rest is cut.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/examples/http/byte_range.h"
#include "weft/examples/http/http_date.h"
#include "weft/examples/http/percent.h"
#include "weft/examples/http/request.h"
#include "weft/examples/http/request_parser.h"
#include "weft/examples/http/target.h"
#include "weft/task/check.h"

namespace http {
namespace {

std::vector<Request> ParseAll(std::string_view bytes, size_t piece) {
  RequestParser parser;
  std::vector<Request> requests;
  while (!bytes.empty()) {
    std::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    while (parser.Parse(input)) {
      requests.push_back(parser.TakeRequest());
      if (requests.back().error != 0) return requests;
      if (requests.back().has_body) return requests;
    }
  }
  return requests;
}

void CheckTarget(std::string_view text) {
  const std::optional<Target> target = ParseTarget(text);
  if (!target.has_value()) return;
  const std::string path = "/" + target->Path() + "/";
  WEFT_CHECK(path.find("/../") == path.npos, path);
  WEFT_CHECK(path.find("//") == path.npos, path);
  WEFT_CHECK(path.find('\0') == path.npos, path);
  const std::string url = target->EncodedUrl();
  WEFT_CHECK(url.starts_with('/') && !url.starts_with("//"), url);
  const std::optional<Target> again = ParseTarget(url);
  WEFT_CHECK(again.has_value() && again->Path() == target->Path(), url);
}

void CheckField(std::string_view value) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1000}}) {
    const std::optional<ByteRange> range = ParseByteRange(value, size);
    if (!range.has_value()) continue;
    WEFT_CHECK(range->offset <= size, value);
    WEFT_CHECK(range->length <= size - range->offset, value);
  }
  if (const auto time = ParseHttpDate(value)) {
    WEFT_CHECK(ParseHttpDate(FormatHttpDate(*time)) == *time, value);
  }
  WEFT_CHECK(PercentDecode(PercentEncode(value)) == value, value);
}

}  // namespace
}  // namespace http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  const auto whole = http::ParseAll(bytes, SIZE_MAX);
  const auto cut = http::ParseAll(bytes, 1 + data[0]);
  WEFT_CHECK(whole.size() == cut.size(), "cut bytes give other requests");
  for (size_t i = 0; i < whole.size(); ++i) {
    WEFT_CHECK(whole[i].error == cut[i].error, "cut bytes give another error");
    // What is known of a broken request may differ.
    if (whole[i].error != 0) break;
    WEFT_CHECK(whole[i].target == cut[i].target, whole[i].target);
    WEFT_CHECK(whole[i].fields == cut[i].fields, whole[i].target);
    http::CheckTarget(whole[i].target);
    for (const auto& [name, value] : whole[i].fields) http::CheckField(value);
  }
  return 0;
}
