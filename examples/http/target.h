// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Target: which file or folder below the root a request names.
//
// The target of a request is split at its slashes first and decoded afterwards,
// once, so that an encoded slash separates nothing and a doubly encoded dot
// stays a name. What could lead out of the root by its spelling is refused
// here; symbolic links are the business of weft::fs::Dir.
//
//   std::optional<Target> target = ParseTarget("/a%20b/c/?q");
//   target->Path()       -> "a b/c"
//   target->EncodedUrl() -> "/a%20b/c/"
//
// Thread safety: as a std::string.
#ifndef WEFT_EXAMPLES_HTTP_TARGET_H_
#define WEFT_EXAMPLES_HTTP_TARGET_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace http {

class Target {
 public:
  // `names` are decoded: none is empty, "." or "..", or holds '/' or NUL.
  Target(std::vector<std::string> names, bool ends_in_slash);

  // True if the target ended in a slash: the name of a folder.
  bool ends_in_slash() const { return ends_in_slash_; }
  bool IsRoot() const { return names_.empty(); }
  // The name of the file or folder itself; empty for the root.
  std::string_view name() const;

  // Relative to the root; "." for the root itself.
  std::string Path() const;
  // Absolute, percent-encoded. Never starts with two slashes, so that a
  // redirect to it stays on this server.
  std::string EncodedUrl() const;

  // The same target as a folder.
  Target AsFolder() const;

 private:
  std::vector<std::string> names_;
  bool ends_in_slash_;
};

// The target of a request line, "/path?query" or "http://host/path?query". The
// query is ignored and empty names are skipped. Nullopt if it has neither form,
// is wrongly encoded, or has a name that no Target may have.
std::optional<Target> ParseTarget(std::string_view text);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_TARGET_H_
