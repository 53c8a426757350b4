// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/all_cases.h"

#include <cstddef>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/bench/harness.h"

namespace weft::bench {
namespace {

using ::testing::HasSubstr;

// A size with which the case is soon done.
size_t SmallSize(std::string_view name) {
  if (name == "fib") return 8;
  if (name == "nqueens") return 5;
  if (name == "matmul") return 64;
  if (name == "idle_cpu") return 0;
  return 2;
}

// The names in the first column, up to the first slash.
std::set<std::string> NamesInTable(const std::string& path) {
  std::set<std::string> names;
  std::ifstream table(path);
  for (std::string line; std::getline(table, line);) {
    std::string name;
    std::istringstream(line) >> name;
    if (name.empty() || name[0] == '#' || name == "peers") continue;
    names.insert(name.substr(0, name.find('/')));
  }
  return names;
}

TEST(AllCasesTest, EachRunsAndRecordsAFigure) {
  for (const Case& c : AllExecutorCases()) {
    SCOPED_TRACE(c.name);
    for (const bool io : {false, true}) {
      CaseOptions options;
      options.name = c.name;
      options.size = SmallSize(c.name);
      options.iterations = 1;
      options.io = io;
      Bench bench(options);

      c.run(bench);

      // What is recorded stands between the name and the memory.
      EXPECT_THAT(bench.Json(), HasSubstr("\",\""));
      EXPECT_FALSE(bench.Json().starts_with("{\"case\":\"" + options.name +
                                            "\",\"max_rss_kb\""));
    }
  }
}

TEST(AllCasesTest, TheTableHasThemAll) {
  std::set<std::string> names;
  for (const Case& c : AllExecutorCases()) names.emplace(c.name);

  EXPECT_EQ(NamesInTable("bench/executor/cases.txt"), names);
}

}  // namespace
}  // namespace weft::bench
