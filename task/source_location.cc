// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/source_location.h"

#include <string>
#include <string_view>

namespace weft {

std::string FileAndLine(const SourceLocation& at) {
  if (at.line() == 0) return std::string();
  std::string_view file = at.file_name();
  file = file.substr(file.rfind('/') + 1);
  return std::string(file) + ":" + std::to_string(at.line());
}

}  // namespace weft
