// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the default runtime. It is built when first used, never destroyed,
// and reached only through the environment of threads outside any other
// runtime.

#include <string>

#include "absl/status/statusor.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"

namespace weft {
namespace {

const Environment& DefaultRuntimeEnvironment() {
  static Runtime* const runtime = [] {
    absl::StatusOr<Runtime> built =
        RuntimeBuilder().EnableAll().ThreadName("weft-default").Build();
    WEFT_CHECK(built.ok(), "the default runtime cannot be built: " +
                               std::string(built.status().message()));
    return new Runtime(*std::move(built));
  }();
  return runtime->environment();
}

[[maybe_unused]] const bool registered = [] {
  RegisterDefaultEnvironment(&DefaultRuntimeEnvironment);
  return true;
}();

}  // namespace
}  // namespace weft
