// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/log_line.h"

#include "absl/strings/escaping.h"

namespace http {

std::string LogLine(std::string_view client, const Request& request, int status,
                    uint64_t body_size, absl::Time now) {
  std::string line(client);
  line += absl::FormatTime(" - - [%d/%b/%Y:%H:%M:%S %z] \"", now,
                           absl::UTCTimeZone());
  if (request.method.empty()) {
    line += '-';  // one that could not be parsed
  } else {
    line += request.method + ' ' + absl::CHexEscape(request.target) + " HTTP/" +
            std::to_string(request.major) + '.' + std::to_string(request.minor);
  }
  line +=
      "\" " + std::to_string(status) + ' ' + std::to_string(body_size) + '\n';
  return line;
}

}  // namespace http
