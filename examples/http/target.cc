// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/target.h"

#include <cstddef>
#include <utility>

#include "weft/examples/http/percent.h"

namespace http {
namespace {

// The path of a target in either form; empty if it has none.
std::string_view PathOf(std::string_view text) {
  text = text.substr(0, text.find_first_of("?#"));
  if (!text.empty() && text[0] == '/') return text;
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return {};
  const size_t slash = text.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : text.substr(slash);
}

bool IsSafeName(std::string_view name) {
  return name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) ==
             std::string_view::npos;
}

}  // namespace

Target::Target(std::vector<std::string> names, bool ends_in_slash)
    : names_(std::move(names)), ends_in_slash_(ends_in_slash) {}

std::string_view Target::name() const {
  return names_.empty() ? std::string_view() : names_.back();
}

std::string Target::Path() const {
  if (names_.empty()) return ".";
  std::string path = names_[0];
  for (size_t i = 1; i < names_.size(); ++i) path += '/' + names_[i];
  return path;
}

std::string Target::EncodedUrl() const {
  std::string url;
  for (const std::string& name : names_) url += '/' + PercentEncode(name);
  if (ends_in_slash_ || names_.empty()) url += '/';
  return url;
}

Target Target::AsFolder() const { return Target(names_, true); }

std::optional<Target> ParseTarget(std::string_view text) {
  std::string_view path = PathOf(text);
  if (path.empty()) return std::nullopt;
  const bool ends_in_slash = path.back() == '/';

  std::vector<std::string> names;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view encoded = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size()
                                                       : slash + 1);
    if (encoded.empty()) continue;
    std::optional<std::string> name = PercentDecode(encoded);
    if (!name.has_value() || !IsSafeName(*name)) return std::nullopt;
    names.push_back(*std::move(name));
  }
  return Target(std::move(names), ends_in_slash);
}

}  // namespace http
