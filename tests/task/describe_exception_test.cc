// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/describe_exception.h"

#include <exception>
#include <stdexcept>

#include "gtest/gtest.h"

namespace weft::task_internal {
namespace {

TEST(DescribeExceptionTest, SaysWhatItSays) {
  EXPECT_EQ(DescribeException(
                std::make_exception_ptr(std::runtime_error("no more ink"))),
            "no more ink");
}

TEST(DescribeExceptionTest, TakesWhatIsNone) {
  EXPECT_EQ(DescribeException(std::make_exception_ptr(3)),
            "not a std::exception");
}

}  // namespace
}  // namespace weft::task_internal
