// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/cpu_count.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace weft::runtime {
namespace {

class CpuCountTest : public testing::Test {
 protected:
  CpuCountTest()
      : mount_(std::string(testing::TempDir()) + "/cgroup_" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~CpuCountTest() override { std::filesystem::remove_all(mount_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = mount_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string mount_;
};

TEST_F(CpuCountTest, IsAtLeastOne) { EXPECT_GE(AvailableCpus(), 1); }

TEST_F(CpuCountTest, NoControlGroupMeansNoLimit) {
  EXPECT_EQ(CgroupCpuLimit("", mount_), 0);
  EXPECT_EQ(CgroupCpuLimit("garbage\n:\n", mount_), 0);
  EXPECT_EQ(CgroupCpuLimit("0::/missing\n", mount_), 0);
}

TEST_F(CpuCountTest, Version2QuotaIsRoundedUp) {
  Write("/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuLimit("0::/app\n", mount_), 2);
}

TEST_F(CpuCountTest, Version2MaxMeansNoLimit) {
  Write("/app/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuLimit("0::/app\n", mount_), 0);
}

TEST_F(CpuCountTest, TightestAncestorCounts) {
  Write("/a/cpu.max", "100000 100000\n");
  Write("/a/b/cpu.max", "max 100000\n");
  Write("/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(CgroupCpuLimit("0::/a/b/c\n", mount_), 1);
}

TEST_F(CpuCountTest, LimitAtTheMountCountsInANamespace) {
  Write("/cpu.max", "300000 100000\n");
  EXPECT_EQ(CgroupCpuLimit("0::/\n", mount_), 3);
  EXPECT_EQ(CgroupCpuLimit("0::/outside/the/namespace\n", mount_), 3);
}

TEST_F(CpuCountTest, Version1QuotaIsRead) {
  Write("/cpu/app/cpu.cfs_quota_us", "250000\n");
  Write("/cpu/app/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuLimit("5:memory:/app\n4:cpu,cpuacct:/app\n", mount_), 3);
}

TEST_F(CpuCountTest, Version1MinusOneMeansNoLimit) {
  Write("/cpu/app/cpu.cfs_quota_us", "-1\n");
  Write("/cpu/app/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuLimit("4:cpuacct,cpu:/app\n", mount_), 0);
}

}  // namespace
}  // namespace weft::runtime
