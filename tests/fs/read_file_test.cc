// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/file_future.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/fixture.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using ReadFileTest = FsTest;

// Bytes that tell where in the row they stand.
std::string Pattern(size_t size) {
  std::string pattern(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    pattern[i] = static_cast<char>(i * 7 + i / 251);
  }
  return pattern;
}

void WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = write(fd, data.data(), data.size());
    ASSERT_GT(n, 0);
    data.remove_prefix(static_cast<size_t>(n));
  }
}

TEST_F(ReadFileTest, ReadsAllOfItInOneJob) {
  for (const size_t size : {0, 1, 4095, 4096, 4097, 1'000'000}) {
    const std::string path = dir_.MakeFile("f", Pattern(size));
    const size_t before = offload_.jobs();
    EXPECT_THAT(BlockOn(ReadFile(path)), IsOkAndHolds(Pattern(size)));
    EXPECT_EQ(offload_.jobs(), before + 1);
  }
}

TEST_F(ReadFileTest, ReadsFilesThatClaimToBeEmpty) {
  EXPECT_THAT(BlockOn(ReadFile("/proc/self/status")),
              IsOkAndHolds(HasSubstr("VmRSS:")));
  // Larger than what is read at first.
  EXPECT_THAT(BlockOn(ReadFile("/proc/self/smaps")),
              IsOkAndHolds(SizeIs(testing::Gt(4096u))));
}

TEST_F(ReadFileTest, ReadsAFifoToItsEnd) {
  const std::string path = dir_.MakeFifo("fifo");
  const std::string pattern = Pattern(300'000);
  std::thread writer([&] {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    WriteAll(fd, pattern);
    close(fd);
  });
  EXPECT_THAT(BlockOn(ReadFile(path)), IsOkAndHolds(pattern));
  writer.join();
}

TEST_F(ReadFileTest, ReadsWhatAGrowingFileHoldsAtItsEnd) {
  constexpr size_t kAtFirst = 128 << 10;
  constexpr size_t kPiece = 4 << 10;
  const std::string pattern = Pattern(4 << 20);
  const std::string path =
      dir_.MakeFile("f", std::string_view(pattern).substr(0, kAtFirst));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    for (size_t at = kAtFirst; at < pattern.size() && !stop; at += kPiece) {
      WriteAll(fd, std::string_view(pattern).substr(at, kPiece));
    }
    close(fd);
  });
  for (int i = 0; i < 10; ++i) {
    struct stat before;
    ASSERT_EQ(stat(path.c_str(), &before), 0);
    absl::StatusOr<std::string> read = BlockOn(ReadFile(path));
    ASSERT_THAT(read, IsOk());
    EXPECT_GE(read->size(), static_cast<size_t>(before.st_size));
    EXPECT_TRUE(pattern.starts_with(*read));
  }
  stop = true;
  writer.join();
  struct stat after;
  ASSERT_EQ(stat(path.c_str(), &after), 0);
  EXPECT_THAT(BlockOn(ReadFile(path)),
              IsOkAndHolds(SizeIs(static_cast<size_t>(after.st_size))));
}

TEST_F(ReadFileTest, StopsAtTheLimit) {
  const std::string path = dir_.MakeFile("f", Pattern(10'000));
  EXPECT_THAT(BlockOn(ReadFile(path, 10'000)), IsOkAndHolds(SizeIs(10'000)));
  EXPECT_THAT(BlockOn(ReadFile(path, 9'999)), ErrnoIs(EFBIG));
  EXPECT_THAT(std::string(BlockOn(ReadFile(path, 9'999)).status().message()),
              testing::HasSubstr(path + ": more than max_bytes, 9999"));
  EXPECT_THAT(BlockOn(ReadFile(path, 0)), ErrnoIs(EFBIG));
  EXPECT_THAT(BlockOn(ReadFile("/dev/zero", 1'000'000)), ErrnoIs(EFBIG));
  EXPECT_THAT(BlockOn(ReadFile(dir_.MakeFile("empty", ""), 0)),
              IsOkAndHolds(""));
}

TEST_F(ReadFileTest, ErrorsNameOperationAndPath) {
  const std::string path = dir_ / "nothing";
  absl::StatusOr<std::string> missing = BlockOn(ReadFile(path));
  EXPECT_THAT(missing, ErrnoIs(ENOENT));
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound,
                                StartsWith("open " + path)));
  absl::StatusOr<std::string> folder = BlockOn(ReadFile(dir_.path()));
  EXPECT_THAT(folder, ErrnoIs(EISDIR));
  EXPECT_THAT(folder, StatusIs(testing::_, StartsWith("read " + dir_.path())));
  EXPECT_THAT(BlockOn(ReadFile(std::string_view("a\0b", 3))),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ReadFileTest, PermissionIsTheSystemsToGive) {
  const std::string path = dir_.MakeFile("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  if (geteuid() == 0) {
    EXPECT_THAT(BlockOn(ReadFile(path)), IsOkAndHolds("x"));
  } else {
    EXPECT_THAT(BlockOn(ReadFile(path)), ErrnoIs(EACCES));
  }
}

TEST_F(ReadFileTest, LeavesNoDescriptorOpen) {
  const std::string path = dir_.MakeFile("f", Pattern(10'000));
  ManualOffload offload;
  OffloadScope scope(offload);
  const int before = OpenDescriptors();
  Context cx(NoopWaker());
  for (int i = 0; i < 100; ++i) {
    auto future = ReadFile(path, i % 2 == 0 ? 5 : 10'000);
    EXPECT_TRUE(future.Poll(cx).IsPending());
    // Every third is dropped before its job, the others after it.
    if (i % 3 == 0) continue;
    offload.RunOne();
  }
  offload.DropAll();
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace weft::fs
