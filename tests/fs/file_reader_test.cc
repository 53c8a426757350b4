// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/file_reader.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/file.h"
#include "weft/fs/open_file.h"
#include "weft/io/async_io.h"
#include "weft/io/copy.h"
#include "weft/io/pipe.h"
#include "weft/io/read.h"
#include "weft/io/read_exact.h"
#include "weft/select/join.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/fixture.h"
#include "weft/tests/fs/temp_dir.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {
namespace {

static_assert(io::AsyncRead<FileReader>);

std::string Pattern(size_t size) {
  std::string pattern(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    pattern[i] = static_cast<char>(i * 7 + i / 251);
  }
  return pattern;
}

class FileReaderTest : public FsTest, public testing::WithParamInterface<bool> {
 protected:
  // A file with `contents`; with the parameter false, one whose reads always
  // need a job.
  File Make(std::string_view contents) {
    const std::string path = dir_.MakeFile("f", contents);
    absl::StatusOr<File> file = BlockOn(File::Open(path));
    EXPECT_THAT(file, IsOk());
    file->shared()->may_read_cached = GetParam();
    return *std::move(file);
  }
};

INSTANTIATE_TEST_SUITE_P(Cached, FileReaderTest, testing::Bool());

Task<std::string> ReadAll(FileReader reader, size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  for (;;) {
    absl::StatusOr<size_t> n = co_await io::Read(reader, buffer);
    if (!n.ok() || *n == 0) co_return all;
    all.append(buffer, 0, *n);
  }
}

TEST_P(FileReaderTest, ReadsToTheEnd) {
  const std::string contents = Pattern(300'000);
  const File file = Make(contents);
  for (const size_t piece : {999, 70'000, 2'000'000}) {
    EXPECT_TRUE(BlockOn(ReadAll(FileReader(file), piece)) == contents);
  }
  EXPECT_TRUE(BlockOn(ReadAll(FileReader(file, 299'990), 4)) ==
              contents.substr(299'990));
  EXPECT_EQ(BlockOn(ReadAll(FileReader(file, 400'000), 4)), "");
}

TEST_P(FileReaderTest, KnowsItsPosition) {
  const File file = Make("0123456789");
  FileReader reader(file, 2);
  std::array<char, 3> buffer;
  EXPECT_THAT(BlockOn(io::Read(reader, buffer)), IsOkAndHolds(3u));
  EXPECT_EQ(reader.position(), 5u);
  EXPECT_THAT(BlockOn(io::ReadExact(reader, buffer)), IsOk());
  EXPECT_EQ(std::string_view(buffer.data(), 3), "567");
  EXPECT_THAT(BlockOn(io::Read(reader, std::span<char>())), IsOkAndHolds(0u));
  FileReader moved = std::move(reader);
  EXPECT_EQ(moved.position(), 8u);
  EXPECT_THAT(BlockOn(io::Read(moved, buffer)), IsOkAndHolds(2u));
  EXPECT_THAT(BlockOn(io::Read(moved, buffer)), IsOkAndHolds(0u));
}

Task<absl::StatusOr<uint64_t>> CopyAndClose(FileReader reader,
                                            io::PipeWriter writer) {
  co_return co_await io::Copy(reader, writer);
}

Task<std::string> ReadPipe(io::PipeReader reader) {
  std::string all;
  std::string buffer(10'000, '\0');
  for (;;) {
    absl::StatusOr<size_t> n = co_await io::Read(reader, buffer);
    if (!n.ok() || *n == 0) co_return all;
    all.append(buffer, 0, *n);
  }
}

TEST_P(FileReaderTest, CanBeCopiedToAnyStream) {
  const std::string contents = Pattern(500'000);
  const File file = Make(contents);
  absl::StatusOr<io::Pipe> pipe = io::Pipe::Create();
  ASSERT_THAT(pipe, IsOk());
  auto [copied, received] =
      BlockOn(Join(CopyAndClose(FileReader(file), std::move(pipe->writer)),
                   ReadPipe(std::move(pipe->reader))));
  EXPECT_THAT(copied, IsOkAndHolds(contents.size()));
  EXPECT_TRUE(received == contents);
}

TEST_P(FileReaderTest, ADroppedReadLosesNothing) {
  const std::string contents = Pattern(1000);
  const File file = Make(contents);
  ManualOffload jobs;
  OffloadScope scope(jobs);
  DropAtEveryPollOptions options;
  options.step = [&] { return jobs.RunOne(); };
  options.settle = [&] {
    while (jobs.RunOne()) {
    }
  };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return ReadAll(FileReader(file), 100); }, options),
      IsOk());

  FileReader reader(file);
  std::array<char, 600> buffer;
  {
    auto read = io::Read(reader, buffer);
    Context cx(NoopWaker());
    if (read.Poll(cx).IsReady()) return;  // cached: never pending
  }
  // Dropped while its job was under way; another buffer gets what it read.
  while (jobs.RunOne()) {
  }
  std::array<char, 10> other;
  EXPECT_THAT(BlockOn(io::Read(reader, other)), IsOkAndHolds(10u));
  EXPECT_EQ(std::string_view(other.data(), 10), contents.substr(0, 10));
}

TEST_P(FileReaderTest, ErrorsNameThePath) {
  absl::StatusOr<File> folder = BlockOn(File::Open(dir_.path()));
  ASSERT_THAT(folder, IsOk());
  FileReader reader(*folder);
  std::array<char, 10> buffer;
  absl::StatusOr<size_t> read = BlockOn(io::Read(reader, buffer));
  EXPECT_THAT(read, ErrnoIs(EISDIR));
  EXPECT_THAT(read.status().message(), testing::HasSubstr(dir_.path()));
}

}  // namespace
}  // namespace weft::fs
