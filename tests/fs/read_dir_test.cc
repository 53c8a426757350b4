// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/read_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/metadata.h"
#include "weft/stream/next.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/fixture.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {
namespace {

static_assert(Stream<DirStream>);

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using ReadDirTest = FsTest;

using Listing = std::map<std::string, FileType>;

Listing ToListing(const std::vector<DirEntry>& entries) {
  Listing listing;
  for (const DirEntry& entry : entries) {
    EXPECT_TRUE(listing.emplace(entry.name(), entry.type()).second)
        << entry.name() << " is there twice";
  }
  return listing;
}

std::optional<absl::StatusOr<DirEntry>> NextOf(DirStream& stream) {
  return BlockOn(PollFn([&](Context& cx) { return stream.PollNext(cx); }));
}

// Everything in the stream; fails the test on an error.
std::vector<DirEntry> ReadAll(DirStream stream) {
  std::vector<DirEntry> entries;
  for (;;) {
    std::optional<absl::StatusOr<DirEntry>> entry = NextOf(stream);
    if (!entry.has_value()) return entries;
    EXPECT_THAT(*entry, IsOk());
    if (!entry->ok()) return entries;
    entries.push_back(**std::move(entry));
  }
}

TEST_F(ReadDirTest, TellsNamesAndTypes) {
  dir_.MakeFile("file", "x");
  dir_.MakeDir("folder");
  dir_.MakeLink("link", "file");
  dir_.MakeLink("dangling", "nothing");
  dir_.MakeFifo("fifo");
  dir_.MakeFile(" odd\n\xff\\name", "");
  dir_.MakeFile("...", "");
  const auto all = ElementsAre(
      Pair(" odd\n\xff\\name", FileType::kFile), Pair("...", FileType::kFile),
      Pair("dangling", FileType::kSymlink), Pair("fifo", FileType::kFifo),
      Pair("file", FileType::kFile), Pair("folder", FileType::kDirectory),
      Pair("link", FileType::kSymlink));
  absl::StatusOr<std::vector<DirEntry>> listed = BlockOn(ListDir(dir_.path()));
  ASSERT_THAT(listed, IsOk());
  EXPECT_THAT(ToListing(*listed), all);
  EXPECT_THAT(ToListing(ReadAll(ReadDir(dir_.path()))), all);
  for (const DirEntry& entry : *listed) {
    struct stat found;
    ASSERT_EQ(lstat((dir_ / entry.name()).c_str(), &found), 0);
    EXPECT_EQ(entry.inode(), found.st_ino);
  }
}

TEST_F(ReadDirTest, ListsEmptyFolders) {
  EXPECT_THAT(*BlockOn(ListDir(dir_.path())), IsEmpty());
  EXPECT_THAT(ReadAll(ReadDir(dir_.path())), IsEmpty());
}

TEST_F(ReadDirTest, ReadsLargeFoldersInFewJobs) {
  constexpr int kFiles = 700;
  for (int i = 0; i < kFiles; ++i) {
    dir_.MakeFile("a_name_of_usual_length_" + std::to_string(i), "");
  }
  size_t before = offload_.jobs();
  EXPECT_EQ(ToListing(*BlockOn(ListDir(dir_.path()))).size(), kFiles);
  EXPECT_EQ(offload_.jobs(), before + 1);
  before = offload_.jobs();
  EXPECT_EQ(ToListing(ReadAll(ReadDir(dir_.path()))).size(), kFiles);
  EXPECT_LE(offload_.jobs(), before + 5);
}

TEST_F(ReadDirTest, ErrorsEndTheStream) {
  const std::string file = dir_.MakeFile("file", "");
  EXPECT_THAT(BlockOn(ListDir(file)), ErrnoIs(ENOTDIR));
  DirStream stream = ReadDir(dir_ / "nothing");
  std::optional<absl::StatusOr<DirEntry>> first = NextOf(stream);
  ASSERT_TRUE(first.has_value());
  EXPECT_THAT(*first, ErrnoIs(ENOENT));
  EXPECT_THAT(*first, StatusIs(testing::_, StartsWith("open " + dir_.path())));
  EXPECT_FALSE(NextOf(stream).has_value());
  EXPECT_FALSE(NextOf(stream).has_value());
  DirStream nul = ReadDir(std::string_view("a\0b", 3));
  EXPECT_THAT(*NextOf(nul), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ReadDirTest, PermissionIsTheSystemsToGive) {
  const std::string folder = dir_.MakeDir("folder");
  ASSERT_EQ(chmod(folder.c_str(), 0), 0);
  absl::StatusOr<std::vector<DirEntry>> listed = BlockOn(ListDir(folder));
  if (geteuid() == 0) {
    EXPECT_THAT(listed, IsOk());
  } else {
    EXPECT_THAT(listed, ErrnoIs(EACCES));
  }
  chmod(folder.c_str(), 0700);
}

TEST_F(ReadDirTest, ARemovedFolderIsEmpty) {
  const std::string folder = dir_.MakeDir("folder");
  ManualOffload jobs;
  OffloadScope scope(jobs);
  for (int i = 0; i < 700; ++i) {
    dir_.MakeFile("folder/a_name_of_usual_length_" + std::to_string(i), "");
  }
  DirStream stream = ReadDir(folder);
  Context cx(NoopWaker());
  size_t entries = 0;
  bool removed = false;
  for (;;) {
    Polled<std::optional<absl::StatusOr<DirEntry>>> polled =
        stream.PollNext(cx);
    if (polled.IsPending()) {
      ASSERT_TRUE(jobs.RunOne());
      continue;
    }
    if (!polled->has_value()) break;
    ASSERT_THAT(**polled, IsOk());
    ++entries;
    if (removed) continue;
    removed = true;
    for (int i = 0; i < 700; ++i) {
      unlink((dir_ / "folder/a_name_of_usual_length_" + std::to_string(i))
                 .c_str());
    }
    ASSERT_EQ(rmdir(folder.c_str()), 0);
  }
  EXPECT_GT(entries, 0u);
}

TEST_F(ReadDirTest, AStreamMayBeMovedAndDroppedAtAnyTime) {
  for (int i = 0; i < 700; ++i) {
    dir_.MakeFile("a_name_of_usual_length_" + std::to_string(i), "");
  }
  ManualOffload jobs;
  OffloadScope scope(jobs);
  const int before = OpenDescriptors();
  Context cx(NoopWaker());
  for (int stop = 0; stop < 4; ++stop) {
    DirStream stream = ReadDir(dir_.path());
    int seen = 0;
    for (int job = 0; job < stop; ++job) {
      for (;;) {
        Polled<std::optional<absl::StatusOr<DirEntry>>> polled =
            stream.PollNext(cx);
        if (polled.IsPending() || !polled->has_value()) break;
        ++seen;
      }
      jobs.RunOne();
      DirStream moved = std::move(stream);
      stream = std::move(moved);
    }
    EXPECT_EQ(seen > 0, stop > 1);
  }
  while (jobs.RunOne()) {
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

Task<size_t> CountEntries(DirStream stream) {
  size_t count = 0;
  for (;;) {
    std::optional<absl::StatusOr<DirEntry>> entry = co_await Next(stream);
    if (!entry.has_value()) co_return count;
    ++count;
  }
}

TEST_F(ReadDirTest, CanBeDroppedAtEveryPoll) {
  for (int i = 0; i < 700; ++i) {
    dir_.MakeFile("a_name_of_usual_length_" + std::to_string(i), "");
  }
  ManualOffload jobs;
  OffloadScope scope(jobs);
  const int before = OpenDescriptors();
  DropAtEveryPollOptions options;
  options.step = [&] { return jobs.RunOne(); };
  options.settle = [&] {
    while (jobs.RunOne()) {
    }
  };
  options.live = [&] { return OpenDescriptors() - before; };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return CountEntries(ReadDir(dir_.path())); }, options),
              IsOkAndHolds(testing::Ge(2u)));
}

}  // namespace
}  // namespace weft::fs
