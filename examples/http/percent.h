// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Percent-encoding, RFC 3986 section 2.1.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_PERCENT_H_
#define WEFT_EXAMPLES_HTTP_PERCENT_H_

#include <optional>
#include <string>
#include <string_view>

namespace http {

// `text` with each %XX replaced by its byte, once. Nullopt if a '%' is not
// followed by two hexadecimal digits.
std::optional<std::string> PercentDecode(std::string_view text);

// `text` with each byte that is not "unreserved" (a letter, a digit, -._~)
// written as %XX: one segment of a path.
std::string PercentEncode(std::string_view text);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_PERCENT_H_
