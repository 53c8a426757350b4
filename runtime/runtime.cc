// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/runtime.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "weft/runtime/runtime_core.h"
#include "weft/task/check.h"
#include "weft/task/instant.h"

namespace weft {
namespace {

// How long after its deadline a shutdown may still wait for polls to return.
constexpr absl::Duration kGrace = absl::Milliseconds(50);

}  // namespace

EnterGuard::EnterGuard(std::shared_ptr<runtime_internal::RuntimeCore> core)
    : core_(std::move(core)),
      scope_(runtime_internal::Checked(core_), core_->outside()) {}

Handle Handle::Current() {
  std::optional<Handle> handle = TryCurrent();
  WEFT_CHECK(handle.has_value(),
             "Handle::Current() was called outside any runtime: run this code "
             "in a task or in Runtime::BlockOn(), or Enter() a runtime first");
  return *std::move(handle);
}

std::optional<Handle> Handle::TryCurrent() {
  runtime_internal::RuntimeCore* core = runtime_internal::CurrentCore();
  if (core == nullptr) return std::nullopt;
  return Handle(core->shared_from_this());
}

Runtime::Runtime(Runtime&& other) noexcept
    : core_(std::move(other.core_)), ended_(other.ended_) {}

Runtime& Runtime::operator=(Runtime&& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(ended_, other.ended_);
  return *this;
}

Runtime::~Runtime() {
  if (core_ == nullptr || ended_) return;
  if (core_->OnWorkerThread()) {
    core_->Abandon();
  } else {
    core_->Finish(Instant::Past(), Instant::Infinite());
  }
}

void Runtime::CheckAlive() const {
  WEFT_CHECK(core_ != nullptr && !ended_,
             "this Runtime was moved from, or has been shut down already");
}

ShutdownReport Runtime::Shutdown(Instant deadline) {
  CheckAlive();
  WEFT_CHECK(!core_->OnWorkerThread(),
             "a task, or a hook of a worker thread, cannot wait for the end of "
             "its own runtime: use ShutdownBackground(), or shut down on "
             "another thread");
  ended_ = true;
  return core_->Finish(deadline, deadline + kGrace);
}

ShutdownReport Runtime::Shutdown(absl::Duration grace) {
  return Shutdown(Instant::Now() + grace);
}

void Runtime::ShutdownBackground() {
  CheckAlive();
  ended_ = true;
  core_->Abandon();
}

}  // namespace weft
