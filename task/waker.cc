// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/waker.h"

namespace weft {
namespace {

constexpr WakerVTable kNoop = {
    .clone = [](void*) { return Waker(&kNoop, nullptr); },
    .wake = [](void*) {},
    .wake_by_ref = [](void*) {},
    .drop = [](void*) {},
};

}  // namespace

const Waker& NoopWaker() {
  static const Waker waker(&kNoop, nullptr);
  return waker;
}

}  // namespace weft
