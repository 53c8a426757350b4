// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/content_type.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"

namespace http {
namespace {

struct Entry {
  std::string_view ending;
  std::string_view type;
};

// Sorted by ending.
constexpr Entry kTypes[] = {
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"c", "text/plain; charset=utf-8"},
    {"cc", "text/plain; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"h", "text/plain; charset=utf-8"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/x-icon"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"log", "text/plain; charset=utf-8"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ogg", "audio/ogg"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"py", "text/plain; charset=utf-8"},
    {"sh", "text/plain; charset=utf-8"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"txt", "text/plain; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xml", "text/xml; charset=utf-8"},
    {"zip", "application/zip"},
};
static_assert(std::is_sorted(std::begin(kTypes), std::end(kTypes),
                             [](const Entry& a, const Entry& b) {
                               return a.ending < b.ending;
                             }));

}  // namespace

std::string_view ContentTypeOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  std::string ending;
  if (dot != std::string_view::npos) ending = name.substr(dot + 1);
  absl::AsciiStrToLower(&ending);
  const Entry* entry = std::lower_bound(
      std::begin(kTypes), std::end(kTypes), std::string_view(ending),
      [](const Entry& e, std::string_view key) { return e.ending < key; });
  return entry != std::end(kTypes) && entry->ending == ending
             ? entry->type
             : "application/octet-stream";
}

}  // namespace http
