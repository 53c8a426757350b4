// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/observe/observe_cases.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/bench/harness.h"

namespace weft::bench {
namespace {

using ::testing::HasSubstr;

std::set<std::string> NamesOf(bool histograms) {
  std::set<std::string> names;
  for (const Case& c : ObserveCases(histograms)) names.emplace(c.name);
  return names;
}

TEST(ObserveCasesTest, EachRunsAndRecordsAFigure) {
  for (const bool histograms : {false, true}) {
    for (const Case& c : ObserveCases(histograms)) {
      SCOPED_TRACE(c.name);
      CaseOptions options;
      options.name = c.name;
      options.size = 2;
      options.iterations = 1;
      options.io = true;
      Bench bench(options);

      c.run(bench);

      EXPECT_THAT(bench.Json(), HasSubstr("\"ns_per_op\""));
    }
  }
}

TEST(ObserveCasesTest, TheTableHasThemAll) {
  std::set<std::string> names;
  std::ifstream table("bench/observe/cases.txt");
  for (std::string line; std::getline(table, line);) {
    std::string name;
    std::istringstream(line) >> name;
    if (name.empty() || name[0] == '#') continue;
    if (name == "peers" || name == "rounds") continue;
    names.insert(name.substr(0, name.find('/')));
  }

  EXPECT_EQ(names, NamesOf(false));
  EXPECT_EQ(names, NamesOf(true));
}

}  // namespace
}  // namespace weft::bench
