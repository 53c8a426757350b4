// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/all_cases.h"

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

using testing::AnyOf;
using testing::HasSubstr;

// Enough for each of five senders, and one for what takes long.
size_t SmallSize(std::string_view name) {
  return name == "mpsc_create_100000" ? 1 : 24;
}

TEST(AllSyncCasesTest, EachRunsAndRecordsAFigure) {
  for (const Case& c : AllSyncCases()) {
    SCOPED_TRACE(c.name);
    CaseOptions options;
    options.name = c.name;
    options.size = SmallSize(c.name);
    options.iterations = 1;
    options.io = true;
    Bench bench(options);

    c.run(bench);

    EXPECT_THAT(bench.Json(),
                AnyOf(HasSubstr("\"ns_per_op\""), HasSubstr("\"bytes\"")));
  }
}

TEST(AllSyncCasesTest, TheTableHasThemAll) {
  std::set<std::string> names;
  for (const Case& c : AllSyncCases()) names.emplace(c.name);

  std::set<std::string> in_table;
  std::ifstream table("bench/sync/cases.txt");
  for (std::string line; std::getline(table, line);) {
    std::string name;
    std::istringstream(line) >> name;
    if (name.empty() || name[0] == '#' || name == "peers") continue;
    in_table.insert(name.substr(0, name.find('/')));
  }

  EXPECT_EQ(in_table, names);
}

}  // namespace
}  // namespace weft::bench
