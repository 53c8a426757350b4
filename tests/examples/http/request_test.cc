// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/request.h"

#include "gtest/gtest.h"

namespace http {
namespace {

TEST(RequestTest, FindsTheFirstFieldInWhateverCase) {
  Request request;
  request.fields = {{"Host", "a"}, {"hOST", "b"}};

  EXPECT_EQ(request.Field("host"), "a");
  EXPECT_EQ(request.CountFields("HOST"), 2);
  EXPECT_EQ(request.Field("Hos"), std::nullopt);
  EXPECT_EQ(request.CountFields("Hosts"), 0);
}

}  // namespace
}  // namespace http
