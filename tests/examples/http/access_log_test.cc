// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/tests/examples/inline_offload.h"
#include "weft/tests/examples/temp_folder.h"

namespace http {
namespace {

using ::testing::EndsWith;
using ::weft::testing::InlineOffload;
using ::weft::testing::TempFolder;

class AccessLogTest : public ::testing::Test {
 protected:
  ~AccessLogTest() override { close(fd_); }

  std::string Written() const { return folder_.Read("log"); }

  const TempFolder folder_;
  const int fd_ =
      open(folder_.PathOf("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const InlineOffload::Scope offload_;
  AccessLog log_{fd_};
  weft::ManualExecutor executor_;
};

TEST_F(AccessLogTest, WritesLinesInTheirOrder) {
  const auto writer = executor_.SpawnBorrowing(log_.Run());
  executor_.RunUntilIdle();
  EXPECT_EQ(Written(), "");

  log_.Add("one\n");
  log_.Add("two\n");
  executor_.RunUntilIdle();
  EXPECT_EQ(Written(), "one\ntwo\n");

  log_.Add("three\n");
  executor_.RunUntilIdle();
  EXPECT_EQ(Written(), "one\ntwo\nthree\n");
  EXPECT_FALSE(writer.IsFinished());
}

TEST_F(AccessLogTest, EndsAfterCloseWithEverythingWritten) {
  log_.Add("one\n");
  log_.Close();
  const auto writer = executor_.SpawnBorrowing(log_.Run());
  executor_.RunUntilIdle();
  EXPECT_TRUE(writer.IsFinished());
  EXPECT_EQ(Written(), "one\n");
}

TEST_F(AccessLogTest, CountsTheLinesItHasNoRoomFor) {
  const std::string line = std::string(1023, 'x') + '\n';
  for (size_t i = 0; i < AccessLog::kMaxWaiting / line.size() + 5; ++i) {
    log_.Add(line);
  }
  const auto writer = executor_.SpawnBorrowing(log_.Run());
  executor_.RunUntilIdle();
  EXPECT_THAT(Written(), EndsWith("x\n5 lines were dropped here\n"));

  log_.Add("next\n");
  executor_.RunUntilIdle();
  EXPECT_THAT(Written(), EndsWith("dropped here\nnext\n"));
}

}  // namespace
}  // namespace http
