// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What is left to check of a document once its snippets have compiled: that it
// has some, and that each code block says in which language it is, since one
// that does not would not have been compiled.
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(SnippetsTest, EveryBlockNamesItsLanguage) {
  ASSERT_EQ(testing::internal::GetArgvs().size(), 2u);
  std::ifstream document(testing::internal::GetArgvs()[1]);
  int snippets = 0;
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(document, line);) {
    ++number;
    if (line.rfind("```", 0) != 0) continue;
    inside = !inside;
    if (!inside) continue;
    EXPECT_NE(line, "```") << "line " << number;
    snippets += line == "```cpp";
  }
  EXPECT_FALSE(inside);
  EXPECT_GE(snippets, 1);
}

}  // namespace
}  // namespace weft
