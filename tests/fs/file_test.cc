// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/metadata.h"
#include "weft/fs/open_file.h"
#include "weft/fs/open_options.h"
#include "weft/io/fd.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/fixture.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {
namespace {

static_assert(Future<ReadAtFuture> && Future<WriteAtFuture>);

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string Pattern(size_t size) {
  std::string pattern(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    pattern[i] = static_cast<char>(i * 7 + i / 251);
  }
  return pattern;
}

class FileTest : public FsTest {
 protected:
  File Open(const std::string& path,
            const OpenOptions& options = OpenOptions()) {
    absl::StatusOr<File> file = BlockOn(File::Open(path, options));
    EXPECT_THAT(file, IsOk());
    return *std::move(file);
  }
};

// Forgets what the system has cached of a file, so that reading it needs a job.
// False where that is not possible (tmpfs).
bool Evict(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  fsync(fd);
  const bool done = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
  close(fd);
  return done;
}

TEST_F(FileTest, ReadsAtPositions) {
  const File file = Open(dir_.MakeFile("f", "0123456789"));
  std::array<char, 4> buffer;
  EXPECT_THAT(BlockOn(file.ReadAt(3, buffer)), IsOkAndHolds(4u));
  EXPECT_EQ(std::string_view(buffer.data(), 4), "3456");
  EXPECT_THAT(BlockOn(file.ReadAt(8, buffer)), IsOkAndHolds(2u));
  EXPECT_EQ(std::string_view(buffer.data(), 2), "89");
  EXPECT_THAT(BlockOn(file.ReadAt(10, buffer)), IsOkAndHolds(0u));
  EXPECT_THAT(BlockOn(file.ReadAt(1 << 30, buffer)), IsOkAndHolds(0u));
  EXPECT_THAT(BlockOn(file.ReadAt(0, std::span<char>())), IsOkAndHolds(0u));
}

TEST_F(FileTest, ReadsAsMuchAsIsAskedFor) {
  const std::string pattern = Pattern(5'000'000);
  const std::string path = dir_.MakeFile("f", pattern);
  const File file = Open(path);
  std::string buffer(4'500'000, '\0');
  for (const bool evict : {false, true}) {
    if (evict) Evict(path);
    EXPECT_THAT(BlockOn(file.ReadAt(123, buffer)), IsOkAndHolds(buffer.size()));
    EXPECT_EQ(buffer, pattern.substr(123, buffer.size()));
  }
  std::string rest(buffer.size(), '\0');
  Evict(path);
  EXPECT_THAT(BlockOn(file.ReadAt(3'000'000, rest)), IsOkAndHolds(2'000'000u));
  EXPECT_EQ(rest.substr(0, 2'000'000), pattern.substr(3'000'000));
}

TEST_F(FileTest, ReadsCachedDataWithoutAJobWhereTheFileSystemAllows) {
  const std::string path = dir_.MakeFile("f", Pattern(100'000));
  const File file = Open(path);
  std::array<char, 4096> buffer;
  BlockOn(file.ReadAt(0, buffer)).IgnoreError();
  const size_t before = offload_.jobs();
  iovec vector = {buffer.data(), buffer.size()};
  const bool allows =
      preadv2(file.native_handle(), &vector, 1, 0, RWF_NOWAIT) > 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(BlockOn(file.ReadAt(4096 * i, buffer)), IsOkAndHolds(4096u));
  }
  EXPECT_EQ(offload_.jobs() - before, allows ? 0u : 20u);
}

TEST_F(FileTest, ALongCachedReadYieldsWhenItsBudgetIsSpent) {
  const std::string pattern = Pattern(2 << 20);
  const File file = Open(dir_.MakeFile("f", pattern));
  std::string buffer(pattern.size(), '\0');
  ReadAtFuture read = file.ReadAt(0, buffer);
  int polls = 0;
  std::optional<Polled<absl::StatusOr<size_t>>> polled;
  ManualOffload jobs;
  OffloadScope scope(jobs);
  do {
    Budget one(1);
    Context cx(NoopWaker(), &one);
    polled.emplace(read.Poll(cx));
    jobs.RunOne();
    ASSERT_LT(++polls, 100);
  } while (polled->IsPending());
  EXPECT_THAT(**polled, IsOkAndHolds(pattern.size()));
  EXPECT_EQ(buffer, pattern);
  EXPECT_GT(polls, 1);
}

TEST_F(FileTest, WritesAtPositions) {
  const std::string path = dir_ / "f";
  const File file = Open(path, OpenOptions().Write().CreateNew().Mode(0600));
  EXPECT_THAT(BlockOn(file.WriteAt(4, std::string_view("4567"))), IsOk());
  EXPECT_THAT(BlockOn(file.WriteAt(0, std::string_view("01"))), IsOk());
  EXPECT_THAT(BlockOn(file.WriteAt(9, std::string_view())), IsOk());
  EXPECT_EQ(Contents(path), std::string_view("01\0\0"
                                             "4567",
                                             8));
  struct stat found;
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST_F(FileTest, WritesAllOfManyBlocks) {
  const std::string path = dir_ / "f";
  const std::string pattern = Pattern(3'500'000);
  const File file = Open(path, OpenOptions().Read().Write().Create());
  EXPECT_THAT(BlockOn(file.WriteAt(7, pattern)), IsOk());
  EXPECT_EQ(Contents(path).substr(7), pattern);
  EXPECT_EQ(BlockOn(file.Stat())->size(), pattern.size() + 7);
  EXPECT_EQ(file.metadata_at_open().size(), 0u);
}

TEST_F(FileTest, OpensAsTold) {
  const std::string path = dir_.MakeFile("f", "old");
  EXPECT_THAT(BlockOn(File::Open(path, OpenOptions().Write().CreateNew())),
              ErrnoIs(EEXIST));
  EXPECT_THAT(BlockOn(File::Open(dir_ / "nothing")), ErrnoIs(ENOENT));
  EXPECT_THAT(BlockOn(File::Open(path, OpenOptions().Truncate())),
              StatusIs(absl::StatusCode::kInvalidArgument));

  const File log = Open(path, OpenOptions().Append());
  EXPECT_THAT(BlockOn(log.WriteAt(0, std::string_view("er"))), IsOk());
  EXPECT_EQ(Contents(path), "older");
  std::array<char, 4> buffer;
  EXPECT_THAT(BlockOn(log.ReadAt(0, buffer)), ErrnoIs(EBADF));

  const File emptied = Open(path, OpenOptions().Write().Truncate());
  EXPECT_EQ(Contents(path), "");
}

TEST_F(FileTest, ErrorsNameOperationAndPath) {
  const std::string path = dir_.MakeFile("f", "x");
  const File file = Open(path);
  absl::Status status = BlockOn(file.WriteAt(0, std::string_view("y")));
  EXPECT_THAT(status, ErrnoIs(EBADF));
  EXPECT_THAT(status, StatusIs(testing::_, StartsWith("write " + path)));

  const File folder = Open(dir_.path());
  EXPECT_TRUE(folder.metadata_at_open().IsDirectory());
  std::array<char, 4> buffer;
  absl::StatusOr<size_t> read = BlockOn(folder.ReadAt(0, buffer));
  EXPECT_THAT(read, ErrnoIs(EISDIR));
  EXPECT_THAT(read, StatusIs(testing::_, StartsWith("read " + dir_.path())));
}

TEST_F(FileTest, PermissionIsTheSystemsToGive) {
  const std::string path = dir_.MakeFile("f", "x");
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  absl::StatusOr<File> file = BlockOn(File::Open(path, OpenOptions().Write()));
  EXPECT_EQ(file.ok(), geteuid() == 0);
  if (!file.ok()) {
    EXPECT_THAT(file, ErrnoIs(EACCES));
    EXPECT_THAT(file,
                StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(path)));
  }
}

TEST_F(FileTest, OpeningAFifoDoesNotWaitForItsOtherEnd) {
  const std::string path = dir_.MakeFifo("fifo");
  const File file = Open(path);
  EXPECT_EQ(file.metadata_at_open().type(), FileType::kFifo);
  std::array<char, 4> buffer;
  EXPECT_THAT(BlockOn(file.ReadAt(0, buffer)), ErrnoIs(ESPIPE));
  EXPECT_THAT(
      BlockOn(File::Open(dir_.MakeFifo("other"), OpenOptions().Write())),
      ErrnoIs(ENXIO));
}

TEST_F(FileTest, IsCloseOnExec) {
  const File file = Open(dir_.MakeFile("f", "x"));
  EXPECT_NE(fcntl(file.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FileTest, AFutureKeepsItsFileOpen) {
  const std::string path = dir_.MakeFile("f", "hello");
  const int before = OpenDescriptors();
  std::array<char, 5> buffer;
  {
    std::optional<File> file(Open(path));
    ReadAtFuture read = file->ReadAt(0, buffer);
    file.reset();
    EXPECT_EQ(OpenDescriptors(), before + 1);
    EXPECT_THAT(BlockOn(read), IsOkAndHolds(5u));
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

// A read that a job is doing, and a job to do it by.
class DroppedFileTest : public FileTest {
 protected:
  // A file whose reads always need a job.
  File OpenUncached(const std::string& path) {
    auto open_file = std::make_shared<fs_internal::OpenFile>(
        io::Fd(open(path.c_str(), O_RDWR | O_CLOEXEC)), path,
        Open(path).metadata_at_open());
    open_file->may_read_cached = false;
    return File(std::move(open_file));
  }

  ManualOffload jobs_;
};

TEST_F(DroppedFileTest, ADroppedReadNeverTouchesTheBuffer) {
  const std::string path = dir_.MakeFile("f", Pattern(10'000));
  const int before = OpenDescriptors();
  std::optional<File> file(OpenUncached(path));
  OffloadScope scope(jobs_);
  auto buffer = std::make_unique<std::array<char, 10'000>>();
  std::optional<ReadAtFuture> read(file->ReadAt(0, *buffer));
  Context cx(NoopWaker());
  EXPECT_TRUE(read->Poll(cx).IsPending());
  ASSERT_EQ(jobs_.waiting(), 1u);

  // Done, not yet seen: the buffer is the caller's as long as it was not.
  buffer->fill('x');
  jobs_.RunOne();
  EXPECT_THAT(*buffer, testing::Each('x'));
  read.reset();
  buffer.reset();  // a write to it now would be a use after free

  read.emplace(file->ReadAt(0, std::span<char>()));
  file.reset();
  read.reset();
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(DroppedFileTest, ADroppedWriteOwnsWhatItStillWrites) {
  const std::string path = dir_.MakeFile("f", "");
  const File file = OpenUncached(path);
  OffloadScope scope(jobs_);
  auto data = std::make_unique<std::string>(Pattern(2'500'000));
  const std::string expected = data->substr(0, 1 << 20);
  Context cx(NoopWaker());
  {
    WriteAtFuture write = file.WriteAt(0, *data);
    EXPECT_TRUE(write.Poll(cx).IsPending());
    data.reset();
    // A job that has not started when its future is dropped does nothing.
  }
  while (jobs_.RunOne()) {
  }
  EXPECT_EQ(Contents(path), "");

  data = std::make_unique<std::string>(Pattern(2'500'000));
  {
    WriteAtFuture write = file.WriteAt(0, *data);
    EXPECT_TRUE(write.Poll(cx).IsPending());
    jobs_.RunOne();
    EXPECT_TRUE(write.Poll(cx).IsPending());
  }
  while (jobs_.RunOne()) {
  }
  EXPECT_EQ(Contents(path), expected);
}

TEST_F(DroppedFileTest, ReadsAndWritesCanBeDroppedAtEveryPoll) {
  const std::string data = Pattern(2'500'000);
  const File file = OpenUncached(dir_.MakeFile("f", data));
  OffloadScope scope(jobs_);
  DropAtEveryPollOptions options;
  options.step = [&] { return jobs_.RunOne(); };
  options.settle = [&] {
    while (jobs_.RunOne()) {
    }
  };
  std::string buffer(data.size(), '\0');
  EXPECT_THAT(DropAtEveryPoll([&] { return file.ReadAt(0, buffer); }, options),
              IsOkAndHolds(4u));
  EXPECT_TRUE(buffer == data);
  EXPECT_THAT(DropAtEveryPoll([&] { return file.WriteAt(0, data); }, options),
              IsOkAndHolds(4u));
}

TEST_F(DroppedFileTest, APoolThatIsGoneCancelsReadsAndWrites) {
  const File file = OpenUncached(dir_.MakeFile("f", "x"));
  OffloadScope scope(jobs_);
  std::array<char, 1> buffer;
  ReadAtFuture read = file.ReadAt(0, buffer);
  WriteAtFuture write = file.WriteAt(0, buffer);
  Context cx(NoopWaker());
  EXPECT_TRUE(read.Poll(cx).IsPending());
  EXPECT_TRUE(write.Poll(cx).IsPending());
  jobs_.DropAll();
  EXPECT_THAT(*read.Poll(cx), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(*write.Poll(cx), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace weft::fs
