// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/sync/callback_waker.h"

#include <functional>
#include <memory>
#include <utility>

#include "weft/task/waker.h"

namespace weft {
namespace {

struct Callbacks {
  std::function<void()> on_wake;
  std::function<void()> on_drop;
};
using Shared = std::shared_ptr<Callbacks>;

Waker Make(Shared callbacks);

constexpr WakerVTable kVTable = {
    .clone = [](void* data) { return Make(*static_cast<Shared*>(data)); },
    .wake =
        [](void* data) {
          const std::unique_ptr<Shared> shared(static_cast<Shared*>(data));
          if ((*shared)->on_wake) (*shared)->on_wake();
        },
    .wake_by_ref =
        [](void* data) {
          const Shared shared = *static_cast<Shared*>(data);
          if (shared->on_wake) shared->on_wake();
        },
    .drop =
        [](void* data) {
          const std::unique_ptr<Shared> shared(static_cast<Shared*>(data));
          if ((*shared)->on_drop) (*shared)->on_drop();
        },
};

Waker Make(Shared callbacks) {
  return Waker(&kVTable, new Shared(std::move(callbacks)));
}

}  // namespace

Waker CallbackWaker(std::function<void()> on_wake,
                    std::function<void()> on_drop) {
  return Make(std::make_shared<Callbacks>(
      Callbacks{std::move(on_wake), std::move(on_drop)}));
}

}  // namespace weft
