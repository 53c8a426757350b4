// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Relacy works here: it finds the fault of a small model that has one, and none
// in the same model without it.

#include <ostream>

#include "gtest/gtest.h"

// After every other header, because it makes macros of keywords and functions.
// GoogleTest's own macros need these two as they were.
#include "relacy/relacy.hpp"
#undef new
#undef delete

namespace {

// One thread writes data and then a flag; the other reads them in turn.
template <bool kReleases>
struct Publication : rl::test_suite<Publication<kReleases>, 2> {
  rl::atomic<int> flag;
  rl::var<int> data;

  void before() {
    flag(RL_INFO) = 0;
    data(RL_INFO) = 0;
  }

  void thread(unsigned index) {
    if (index == 0) {
      data(RL_INFO) = 1;
      flag(RL_INFO).store(1, kReleases ? rl::mo_release : rl::mo_relaxed);
    } else if (flag(RL_INFO).load(rl::mo_acquire) == 1) {
      RL_ASSERT(data(RL_INFO) == 1);
    }
  }
};

template <class Model>
bool Holds() {
  // Says nothing and, above all, allocates nothing: what is allocated while a
  // model runs comes from Relacy's heap and must be freed there.
  std::ostream output(nullptr);
  rl::test_params params;
  params.iteration_count = 1000;
  params.output_stream = &output;
  params.progress_stream = &output;
  return rl::simulate<Model>(params);
}

TEST(RelacyTest, FindsAMissingRelease) {
  EXPECT_FALSE(Holds<Publication<false>>());
}

TEST(RelacyTest, AcceptsAReleaseAndAnAcquire) {
  EXPECT_TRUE(Holds<Publication<true>>());
}

}  // namespace
