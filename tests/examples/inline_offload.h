// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// InlineOffload: does blocking work at once, on the thread that asks for it, so
// that a test needs no pool and BlockOn is enough to run anything that only
// touches files.
//
//   InlineOffload::Scope scope;
//   auto response = BlockOn(site.Answer(request));
//
// Thread safety: per thread.
#ifndef WEFT_TESTS_EXAMPLES_INLINE_OFFLOAD_H_
#define WEFT_TESTS_EXAMPLES_INLINE_OFFLOAD_H_

#include <utility>

#include "weft/task/environment.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft::testing {

class InlineOffload : public Offload {
 public:
  // The calling thread's offload until the scope ends.
  class Scope;

  void Submit(Runnable<OffloadJob> job) override { std::move(job).Run(); }
};

class InlineOffload::Scope {
 public:
  Scope() : environment_(With(&offload_)), scope_(environment_) {}

 private:
  static Environment With(Offload* offload) {
    Environment environment = Environment::Current();
    environment.offload = offload;
    return environment;
  }

  InlineOffload offload_;
  Environment environment_;
  EnvironmentScope scope_;
};

}  // namespace weft::testing

#endif  // WEFT_TESTS_EXAMPLES_INLINE_OFFLOAD_H_
