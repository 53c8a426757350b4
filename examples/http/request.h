// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Request: the head of an HTTP request, as its parser gives it; or what is
// known of one that was broken off.
//
// Thread safety: as a std::string.
#ifndef WEFT_EXAMPLES_HTTP_REQUEST_H_
#define WEFT_EXAMPLES_HTTP_REQUEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

struct Request {
  Request() = default;  // not an aggregate: coroutines take it as a parameter

  // The value of the first field called `name`, in whatever case.
  std::optional<std::string_view> Field(std::string_view name) const;
  // True if two field names are the same, in whatever case.
  static bool SameName(std::string_view a, std::string_view b);
  // How many fields are called `name`.
  int CountFields(std::string_view name) const;

  // If not 0 this is no request: the HTTP status that says so to the client,
  // after which nothing more can be read from the connection.
  int error = 0;
  std::string method;
  std::string target;  // as it was sent
  int major = 0;
  int minor = 0;
  bool keep_alive = false;
  bool has_body = false;
  std::vector<std::pair<std::string, std::string>> fields;
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_REQUEST_H_
