// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Uses something that must be linked from every target of the Abseil repository
// that bazel/abseil.bzl makes, so that a wrong entry of its table shows.

#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/call_once.h"
#include "absl/base/log_severity.h"
#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/btree_map.h"
#include "absl/container/fixed_array.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/debugging/stacktrace.h"
#include "absl/debugging/symbolize.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/bind_front.h"
#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "absl/memory/memory.h"
#include "absl/meta/type_traits.h"
#include "absl/numeric/bits.h"
#include "absl/numeric/int128.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "absl/utility/utility.h"
#include "gtest/gtest.h"

ABSL_FLAG(int, abseil_test_number, 3, "a flag");

namespace {

TEST(AbseilTest, ContainersLink) {
  absl::btree_map<int, int> ordered = {{2, 1}, {1, 2}};
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  absl::flat_hash_set<int> set = {1, 2};
  absl::node_hash_map<int, std::string> nodes = {{1, "b"}};
  absl::InlinedVector<int, 2> inlined = {1, 2, 3};
  absl::FixedArray<int> fixed(4, 0);
  EXPECT_EQ(ordered.begin()->first, 1);
  EXPECT_EQ(map.at("a") + static_cast<int>(set.size()), 3);
  EXPECT_EQ(nodes.at(1), "b");
  EXPECT_EQ(inlined.size() + fixed.size(), 7u);
  EXPECT_TRUE(absl::c_linear_search(inlined, 3));
  EXPECT_EQ(absl::MakeSpan(inlined).subspan(1).size(), 2u);
  EXPECT_EQ(absl::Hash<int>()(1), absl::Hash<int>()(1));
}

TEST(AbseilTest, FunctionsLink) {
  absl::AnyInvocable<int(int)> twice = [](int i) { return 2 * i; };
  auto half = [](int i) { return i / 2; };
  absl::FunctionRef<int(int)> ref = half;
  auto bound = absl::bind_front([](int a, int b) { return a - b; }, 5);
  int cleaned = 0;
  {
    auto cleanup = absl::MakeCleanup([&] { ++cleaned; });
    EXPECT_EQ(ref(twice(bound(2))), 3);
  }
  absl::once_flag once;
  absl::call_once(once, [&] { ++cleaned; });
  EXPECT_EQ(cleaned, 2);
  EXPECT_EQ(*absl::WrapUnique(new int(4)), 4);
  EXPECT_TRUE((std::is_same_v<absl::remove_cvref_t<const int&>, int>));
}

TEST(AbseilTest, StatusStringsAndTimeLink) {
  const absl::Status status = absl::ErrnoToStatus(2, "open");
  const absl::StatusOr<int> result = status;
  EXPECT_EQ(result.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(absl::StrCat("a", absl::StrFormat("%d", 1)), "a1");
  EXPECT_EQ(absl::Cord("abc").size(), 3u);
  EXPECT_EQ(absl::FormatDuration(absl::Milliseconds(5)), "5ms");
  EXPECT_GT(absl::Now(), absl::FromUnixSeconds(0));
  EXPECT_EQ(absl::CivilDay(2024, 2, 30), absl::CivilDay(2024, 3, 1));
  EXPECT_EQ(absl::LogSeverityName(absl::LogSeverity::kInfo),
            std::string("INFO"));
}

TEST(AbseilTest, NumbersAndRandomLink) {
  absl::BitGen random;
  EXPECT_LT(absl::Uniform(random, 0, 10), 10);
  EXPECT_EQ(absl::popcount(7u), 3);
  EXPECT_EQ(absl::Uint128High64(absl::MakeUint128(1, 2)), 1u);
}

TEST(AbseilTest, DebuggingAndFlagsLink) {
  void* frames[4];
  EXPECT_GE(absl::GetStackTrace(frames, 4, 0), 0);
  char name[64];
  absl::Symbolize(frames[0], name, sizeof(name));
  char program[] = "program";
  char flag[] = "--abseil_test_number=7";
  char* arguments[] = {program, flag};
  absl::SetProgramUsageMessage("a test");
  absl::ParseCommandLine(2, arguments);
  EXPECT_EQ(absl::GetFlag(FLAGS_abseil_test_number), 7);
}

}  // namespace
