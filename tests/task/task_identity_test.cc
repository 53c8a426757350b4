// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task_identity.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace weft::task_internal {
namespace {

TaskIdentity Named(std::string name) {
  return {.extras = TaskExtrasPtr(new TaskExtras{std::move(name), {}})};
}

TEST(TaskIdentityTest, EachHasAnIdOfItsOwn) {
  const TaskIdentity a;
  const TaskIdentity b;
  EXPECT_TRUE(static_cast<bool>(a.id));
  EXPECT_NE(a.id, b.id);
}

TEST(TaskIdentityTest, MayHaveAName) {
  EXPECT_EQ(TaskIdentity().name(), "");
  EXPECT_EQ(TaskIdentity().locals(), nullptr);
  EXPECT_EQ(Named("reader").name(), "reader");
}

TEST(TaskIdentityTest, IsDescribedForPeople) {
  const TaskIdentity plain;
  const TaskIdentity named = Named("reader");
  EXPECT_EQ(plain.Describe(), "task " + std::to_string(plain.id.value()));
  EXPECT_EQ(named.Describe(),
            "task " + std::to_string(named.id.value()) + " \"reader\"");
  TaskIdentity job;
  job.is_job = true;
  EXPECT_EQ(job.Describe(), "blocking job " + std::to_string(job.id.value()));
}

}  // namespace
}  // namespace weft::task_internal
