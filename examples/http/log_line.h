// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The lines of an access log, in the Common Log Format.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_LOG_LINE_H_
#define WEFT_EXAMPLES_HTTP_LOG_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "weft/examples/http/request.h"

namespace http {

// The line, with its line break, of a request by `client` that was answered at
// `now` with `status` and `body_size` bytes sent. Whatever a client could use
// to forge a line is escaped.
std::string LogLine(std::string_view client, const Request& request, int status,
                    uint64_t body_size, absl::Time now);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_LOG_LINE_H_
