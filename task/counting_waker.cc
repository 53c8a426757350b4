// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/counting_waker.h"

#include <atomic>
#include <cstdint>

#include "weft/task/waker.h"

namespace weft {

struct CountingWaker::Core {
  std::atomic<int64_t> wakes{0};
  std::atomic<int64_t> clones{0};
  std::atomic<int64_t> drops{0};
  std::atomic<int64_t> references{1};

  void Drop() {
    ++drops;
    Unref();
  }
  void Unref() {
    if (--references == 0) delete this;
  }
};

const WakerVTable CountingWaker::kVTable = {
    .clone =
        [](void* data) {
          auto* core = static_cast<Core*>(data);
          ++core->clones;
          ++core->references;
          return Waker(&kVTable, core);
        },
    .wake =
        [](void* data) {
          auto* core = static_cast<Core*>(data);
          ++core->wakes;
          core->Drop();
        },
    .wake_by_ref = [](void* data) { ++static_cast<Core*>(data)->wakes; },
    .drop = [](void* data) { static_cast<Core*>(data)->Drop(); },
};

CountingWaker::CountingWaker() : core_(new Core), lent_(&kVTable, core_) {}
CountingWaker::~CountingWaker() { core_->Unref(); }

int64_t CountingWaker::wakes() const { return core_->wakes; }
int64_t CountingWaker::clones() const { return core_->clones; }
int64_t CountingWaker::drops() const { return core_->drops; }

int64_t CountingWaker::TakeWakes() {
  const int64_t before = taken_;
  taken_ = wakes();
  return taken_ - before;
}

}  // namespace weft
