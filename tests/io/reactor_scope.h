// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReactorScope: a reactor that the calling thread drives, for a test.
//
// Thread safety: belongs to the thread that made it.
#ifndef WEFT_TESTS_IO_REACTOR_SCOPE_H_
#define WEFT_TESTS_IO_REACTOR_SCOPE_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "weft/io/reactor.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"

namespace weft::io {

class ReactorScope {
 public:
  ReactorScope() : reactor_(std::move(*Reactor::Create())) {
    environment_ = Environment::Current();
    environment_.driver = environment_.reactor = reactor_.get();
    scope_.emplace(environment_);
  }

  Reactor& reactor() { return *reactor_; }

  // Handles what is ready now.
  void Turn() { reactor_->Park(Instant::Past()); }
  // Waits until something is ready, for a minute at most.
  void Wait() { reactor_->Park(Instant::Now() + absl::Minutes(1)); }

  // Destroys the reactor; the thread has its own driver again.
  void Close() {
    scope_.reset();
    reactor_.reset();
  }

 private:
  std::unique_ptr<Reactor> reactor_;
  Environment environment_;
  std::optional<EnvironmentScope> scope_;
};

}  // namespace weft::io

#endif  // WEFT_TESTS_IO_REACTOR_SCOPE_H_
