// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The dates of HTTP, RFC 9110 section 5.6.7.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_HTTP_DATE_H_
#define WEFT_EXAMPLES_HTTP_HTTP_DATE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace http {

// "Sun, 06 Nov 1994 08:49:37 GMT"; fractions of a second are cut off.
std::string FormatHttpDate(absl::Time time);

// The moment that `text` names in that form or in one of the two older ones
// ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994").
std::optional<absl::Time> ParseHttpDate(std::string_view text);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_HTTP_DATE_H_
