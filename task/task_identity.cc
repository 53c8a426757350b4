// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task_identity.h"

#include <string>

namespace weft::task_internal {

void DeleteTaskExtras::operator()(TaskExtras* extras) const noexcept {
  delete extras;
}

std::string TaskIdentity::Describe() const {
  std::string text =
      (is_job ? "blocking job " : "task ") + std::to_string(id.value());
  if (!name().empty()) text.append(" \"").append(name()).append("\"");
  return text;
}

}  // namespace weft::task_internal
