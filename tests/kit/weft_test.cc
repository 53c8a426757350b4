// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/kit/weft_test.h"

#include "weft/task/environment.h"

namespace weft {

WeftTestBody::WeftTestBody() : environment_(Environment::Current()) {
  environment_.clock = &clock_;
}

void WeftTestBody::Run() {
  const EnvironmentScope scope(environment_);
  executor_.Run(Body(), [this] { return clock_.AdvanceToNext(); });
}

}  // namespace weft
