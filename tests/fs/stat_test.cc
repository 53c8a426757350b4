// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/stat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/metadata.h"
#include "weft/task/block_on.h"
#include "weft/task/status_matchers.h"
#include "weft/tests/fs/fixture.h"

namespace weft::fs {
namespace {

using testing::HasSubstr;
using StatTest = FsTest;

TEST_F(StatTest, TellsWhatAFileIs) {
  const std::string path = dir_.MakeFile("a", "hello");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  const timespec times[2] = {{0, 0}, {1'000'000'000, 250'000'000}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  struct stat expected;
  ASSERT_EQ(stat(path.c_str(), &expected), 0);

  absl::StatusOr<Metadata> found = BlockOn(Stat(path));
  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(found->IsFile());
  EXPECT_FALSE(found->IsDirectory());
  EXPECT_EQ(found->type(), FileType::kFile);
  EXPECT_EQ(found->size(), 5u);
  EXPECT_EQ(found->mode(), 0640u);
  EXPECT_EQ(found->uid(), geteuid());
  EXPECT_EQ(found->gid(), expected.st_gid);
  EXPECT_EQ(found->inode(), expected.st_ino);
  EXPECT_EQ(found->device(), expected.st_dev);
  EXPECT_EQ(found->links(), 1u);
  EXPECT_EQ(found->modified(), absl::FromUnixMillis(1'000'000'000'250));
  EXPECT_EQ(found->changed(), absl::TimeFromTimespec(expected.st_ctim));
}

TEST_F(StatTest, TellsTypesApart) {
  dir_.MakeFile("file", "");
  dir_.MakeLink("link", "file");
  dir_.MakeLink("dangling", "nothing");
  dir_.MakeFifo("fifo");
  EXPECT_EQ(BlockOn(Stat(dir_.path()))->type(), FileType::kDirectory);
  EXPECT_EQ(BlockOn(Stat(dir_ / "fifo"))->type(), FileType::kFifo);
  EXPECT_EQ(BlockOn(Stat("/dev/null"))->type(), FileType::kCharacterDevice);
  EXPECT_EQ(BlockOn(Stat(dir_ / "link"))->type(), FileType::kFile);
  EXPECT_EQ(BlockOn(StatNoFollow(dir_ / "link"))->type(), FileType::kSymlink);
  EXPECT_EQ(BlockOn(StatNoFollow(dir_ / "dangling"))->type(),
            FileType::kSymlink);
  EXPECT_THAT(BlockOn(Stat(dir_ / "dangling")), ErrnoIs(ENOENT));
}

TEST_F(StatTest, ErrorsNameOperationAndPath) {
  const std::string path = dir_ / "nothing";
  absl::StatusOr<Metadata> found = BlockOn(Stat(path));
  EXPECT_THAT(found, ErrnoIs(ENOENT));
  EXPECT_THAT(found,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("stat " + path)));
}

TEST_F(StatTest, RefusesANulInThePath) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(BlockOn(Stat("/etc\0/hosts"sv)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"/etc\\000/hosts\"")));
}

}  // namespace
}  // namespace weft::fs
