// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/fs/beneath.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/file.h"
#include "weft/fs/metadata.h"
#include "weft/fs/open_options.h"
#include "weft/fs/read_dir.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/fixture.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {
namespace {

using fs_internal::BeneathMethod;
using std::string_view_literals::operator""sv;

// Each test runs with the kernel's walk and with ours.
class DirTest : public FsTest,
                public testing::WithParamInterface<BeneathMethod> {
 protected:
  // outside/secret and, beside it, root/ with
  //   file  folder/inner  folder/deep/bottom
  DirTest() {
    dir_.MakeDir("outside");
    dir_.MakeFile("outside/secret", "secret");
    dir_.MakeDir("root");
    dir_.MakeFile("root/file", "file");
    dir_.MakeDir("root/folder");
    dir_.MakeFile("root/folder/inner", "inner");
    dir_.MakeDir("root/folder/deep");
    dir_.MakeFile("root/folder/deep/bottom", "bottom");
    fs_internal::SetBeneathMethodForTesting(GetParam());
    root_.emplace(*BlockOn(Dir::Open(dir_ / "root")));
  }
  ~DirTest() override {
    fs_internal::SetBeneathMethodForTesting(BeneathMethod::kBest);
  }

  // The contents of the file `path`, or why it cannot be opened.
  absl::StatusOr<std::string> Read(std::string_view path) {
    absl::StatusOr<File> file = BlockOn(root_->OpenFile(path));
    if (!file.ok()) return file.status();
    std::array<char, 100> buffer;
    absl::StatusOr<size_t> n = BlockOn(file->ReadAt(0, buffer));
    if (!n.ok()) return n.status();
    return std::string(buffer.data(), *n);
  }

  // Every operation on `path` fails as `matcher` says.
  template <class M>
  void ExpectRefused(std::string_view path, M matcher) {
    SCOPED_TRACE(path);
    EXPECT_THAT(BlockOn(root_->OpenFile(path)), matcher);
    EXPECT_THAT(BlockOn(root_->OpenFile(
                    path, OpenOptions().Write().Create().Truncate())),
                matcher);
    EXPECT_THAT(BlockOn(root_->OpenDir(path)), matcher);
    EXPECT_THAT(BlockOn(root_->Stat(path)), matcher);
    EXPECT_THAT(BlockOn(root_->List(path)), matcher);
    DirStream stream = root_->ReadDir(path);
    auto first =
        BlockOn(PollFn([&](Context& cx) { return stream.PollNext(cx); }));
    ASSERT_TRUE(first.has_value());
    EXPECT_THAT(*first, matcher);
  }
  void ExpectLeadsOut(std::string_view path) {
    ExpectRefused(path, StatusIs(absl::StatusCode::kPermissionDenied));
    ExpectRefused(path, ErrnoIs(EXDEV));
    EXPECT_EQ(Contents(dir_ / "outside/secret"), "secret");
  }

  std::optional<Dir> root_;
};

INSTANTIATE_TEST_SUITE_P(Methods, DirTest,
                         testing::Values(BeneathMethod::kKernel,
                                         BeneathMethod::kWalk),
                         [](const auto& info) {
                           return info.param == BeneathMethod::kKernel
                                      ? "Kernel"
                                      : "Walk";
                         });

TEST_P(DirTest, ReachesWhatIsBeneath) {
  EXPECT_THAT(Read("file"), IsOkAndHolds("file"));
  EXPECT_THAT(Read("folder/inner"), IsOkAndHolds("inner"));
  EXPECT_THAT(Read("folder//deep/./bottom"), IsOkAndHolds("bottom"));
  EXPECT_THAT(Read("./folder/deep/bottom"), IsOkAndHolds("bottom"));
  EXPECT_THAT(Read("nothing"), ErrnoIs(ENOENT));
  EXPECT_THAT(Read("folder/nothing"), ErrnoIs(ENOENT));
  EXPECT_THAT(Read("file/inner"), ErrnoIs(ENOTDIR));
  EXPECT_THAT(Read("file/"), ErrnoIs(ENOTDIR));
  EXPECT_THAT(Read("file/."), ErrnoIs(ENOTDIR));
  EXPECT_THAT(Read(""), ErrnoIs(ENOENT));
  EXPECT_THAT(Read("folder"), ErrnoIs(EISDIR));
  EXPECT_THAT(Read(std::string(5000, 'x')), ErrnoIs(ENAMETOOLONG));
  EXPECT_THAT(Read(std::string(300, 'x')), ErrnoIs(ENAMETOOLONG));
}

TEST_P(DirTest, MakesFiles) {
  absl::StatusOr<File> made = BlockOn(root_->OpenFile(
      "folder/new", OpenOptions().Write().CreateNew().Mode(0640)));
  ASSERT_THAT(made, IsOk());
  EXPECT_THAT(BlockOn(made->WriteAt(0, "new"sv)), IsOk());
  EXPECT_EQ(Contents(dir_ / "root/folder/new"), "new");
  struct stat found;
  ASSERT_EQ(stat((dir_ / "root/folder/new").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0640u);
  EXPECT_THAT(
      BlockOn(root_->OpenFile("folder/new", OpenOptions().Write().CreateNew())),
      ErrnoIs(EEXIST));
  EXPECT_THAT(
      BlockOn(root_->OpenFile("folder/", OpenOptions().Write().Create())),
      ErrnoIs(EISDIR));
}

TEST_P(DirTest, TellsWhatIsThere) {
  EXPECT_EQ(BlockOn(root_->Stat("file"))->size(), 4u);
  EXPECT_TRUE(BlockOn(root_->Stat("folder"))->IsDirectory());
  EXPECT_TRUE(BlockOn(root_->Stat("folder/"))->IsDirectory());
  EXPECT_EQ(BlockOn(root_->Stat("."))->inode(),
            root_->metadata_at_open().inode());
  dir_.MakeFifo("root/fifo");
  EXPECT_EQ(BlockOn(root_->Stat("fifo"))->type(), FileType::kFifo);
  // Nobody has to be able to read a file to know about it.
  ASSERT_EQ(chmod((dir_ / "root/file").c_str(), 0), 0);
  EXPECT_EQ(BlockOn(root_->Stat("file"))->mode(), 0u);

  EXPECT_EQ(BlockOn(root_->List("."))->size(), 3u);
  EXPECT_EQ(BlockOn(root_->List("folder"))->size(), 2u);
  EXPECT_THAT(BlockOn(root_->List("file")), ErrnoIs(ENOTDIR));
  absl::StatusOr<Dir> deep = BlockOn(root_->OpenDir("folder/deep"));
  ASSERT_THAT(deep, IsOk());
  EXPECT_EQ(BlockOn(deep->Stat("bottom"))->size(), 6u);
  EXPECT_THAT(BlockOn(deep->Stat("../inner")), ErrnoIs(EXDEV));
}

TEST_P(DirTest, RefusesEveryPathThatLeadsOut) {
  for (const std::string_view path :
       {"..", "../", "../outside/secret", "folder/../../outside/secret",
        "./../outside/secret", "folder/deep/../../../outside/secret", "/",
        "/etc/passwd", "//etc/passwd", "folder/..", "folder/../file", "/..",
        ".//../outside/secret", "../root/file"}) {
    ExpectLeadsOut(path);
  }
  ExpectLeadsOut((dir_ / "outside/secret"));
  ExpectLeadsOut((dir_ / "root/file"));
}

TEST_P(DirTest, RefusesANul) {
  for (const std::string_view path :
       {"file\0"sv, "\0"sv, "file\0/../../outside/secret"sv, "a\0b"sv}) {
    ExpectRefused(path, StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_P(DirTest, DecodesNothing) {
  for (const std::string_view path :
       {"%2e%2e/outside/secret", "..%2foutside%2fsecret", "%252e%252e/outside",
        "..\\outside\\secret", "\\etc\\passwd", "..../outside/secret",
        "\xc0\xae\xc0\xae/outside/secret"}) {
    SCOPED_TRACE(path);
    EXPECT_THAT(Read(path), ErrnoIs(ENOENT));
  }
  // They are names like any other.
  for (const std::string_view name :
       {"%2e%2e", "..\\outside", "...", "..x", "x..", "\xc0\xae"}) {
    SCOPED_TRACE(name);
    dir_.MakeFile("root/" + std::string(name), "odd");
    EXPECT_THAT(Read(name), IsOkAndHolds("odd"));
  }
}

TEST_P(DirTest, FollowsSymlinksThatStayInside) {
  dir_.MakeLink("root/to_file", "file");
  dir_.MakeLink("root/to_folder", "folder/deep");
  dir_.MakeLink("root/to_folder_slash", "folder/deep/");
  dir_.MakeLink("root/folder/up", "../file");
  dir_.MakeLink("root/folder/deep/up_up", "../..");
  dir_.MakeLink("root/dots", "./folder/./deep/../inner");
  dir_.MakeLink("root/itself", ".");
  dir_.MakeLink("root/twice", "to_file");
  dir_.MakeLink("root/file_slash", "file/");
  EXPECT_THAT(Read("to_file"), IsOkAndHolds("file"));
  EXPECT_THAT(Read("to_folder/bottom"), IsOkAndHolds("bottom"));
  EXPECT_THAT(Read("to_folder_slash/bottom"), IsOkAndHolds("bottom"));
  EXPECT_THAT(Read("folder/up"), IsOkAndHolds("file"));
  EXPECT_THAT(Read("folder/deep/up_up/file"), IsOkAndHolds("file"));
  EXPECT_THAT(Read("to_folder/up_up/to_folder/bottom"), IsOkAndHolds("bottom"));
  EXPECT_THAT(Read("dots"), IsOkAndHolds("inner"));
  EXPECT_THAT(Read("itself/itself/file"), IsOkAndHolds("file"));
  EXPECT_THAT(Read("twice"), IsOkAndHolds("file"));
  EXPECT_THAT(Read("file_slash"), ErrnoIs(ENOTDIR));
  EXPECT_EQ(BlockOn(root_->Stat("to_file"))->size(), 4u);
  EXPECT_TRUE(BlockOn(root_->Stat("folder/deep/up_up"))->IsDirectory());
  EXPECT_EQ(BlockOn(root_->Stat("folder/deep/up_up"))->inode(),
            root_->metadata_at_open().inode());
  EXPECT_EQ(BlockOn(root_->List("to_folder"))->size(), 2u);
  EXPECT_THAT(BlockOn(root_->OpenDir("folder/deep/up_up")), IsOk());

  dir_.MakeLink("root/future", "folder/made");
  EXPECT_THAT(Read("future"), ErrnoIs(ENOENT));
  EXPECT_THAT(
      BlockOn(root_->OpenFile("future", OpenOptions().Write().CreateNew())),
      ErrnoIs(EEXIST));
  EXPECT_THAT(
      BlockOn(root_->OpenFile("future", OpenOptions().Write().Create())),
      IsOk());
  EXPECT_EQ(access((dir_ / "root/folder/made").c_str(), F_OK), 0);
}

TEST_P(DirTest, RefusesSymlinksThatLeadOut) {
  dir_.MakeLink("root/absolute", dir_ / "outside/secret");
  dir_.MakeLink("root/absolute_inside", dir_ / "root/file");
  dir_.MakeLink("root/relative", "../outside/secret");
  dir_.MakeLink("root/folder/far", "../../outside");
  dir_.MakeLink("root/there_and_back", "../root/file");
  dir_.MakeLink("root/chain", "relative");
  dir_.MakeLink("root/slash", "/");
  dir_.MakeLink("root/parent", "..");
  dir_.MakeLink("root/new", "../outside/new");
  for (const std::string_view path :
       {"absolute", "absolute_inside", "relative", "folder/far",
        "folder/far/secret", "there_and_back", "chain", "slash",
        "slash/etc/passwd", "parent", "parent/outside/secret", "new"}) {
    ExpectLeadsOut(path);
  }
  EXPECT_NE(access((dir_ / "outside/new").c_str(), F_OK), 0);
}

TEST_P(DirTest, EndlessSymlinksEnd) {
  dir_.MakeLink("root/loop", "loop");
  dir_.MakeLink("root/ping", "pong");
  dir_.MakeLink("root/pong", "ping");
  dir_.MakeLink("root/inward", "inward/x");
  for (const std::string_view path :
       {"loop", "ping", "loop/x", "inward", "inward/y"}) {
    ExpectRefused(path, ErrnoIs(ELOOP));
  }
}

TEST_P(DirTest, RefusesTheMagicLinksOfProc) {
  const Dir proc = *BlockOn(Dir::Open("/proc/self"));
  EXPECT_FALSE(BlockOn(proc.OpenFile("root/etc/passwd")).ok());
  EXPECT_FALSE(BlockOn(proc.OpenFile("exe")).ok());
  EXPECT_FALSE(BlockOn(proc.OpenDir("cwd")).ok());
  EXPECT_THAT(BlockOn(proc.OpenFile("status")), IsOk());
}

TEST_P(DirTest, ARaceWithWhoSwapsFoldersForSymlinksLeadsNowhere) {
  dir_.MakeFile("root/folder/secret", "inside");
  dir_.MakeLink("root/evil", "../outside");
  const std::string folder = dir_ / "root/folder", evil = dir_ / "root/evil";
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop.load()) {
      renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, evil.c_str(),
                RENAME_EXCHANGE);
    }
  });
  int inside = 0, refused = 0;
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 10'000 : 300;
  for (int i = 0; i < rounds; ++i) {
    absl::StatusOr<std::string> read = Read("folder/secret");
    if (read.ok()) {
      EXPECT_EQ(*read, "inside");
      ++inside;
    } else {
      ++refused;
    }
  }
  stop.store(true);
  swapper.join();
  EXPECT_EQ(inside + refused, rounds);
}

TEST_P(DirTest, StaysWithItsFolderWhenThatIsMoved) {
  ASSERT_EQ(rename((dir_ / "root").c_str(), (dir_ / "elsewhere").c_str()), 0);
  dir_.MakeDir("root");
  dir_.MakeFile("root/file", "impostor");
  EXPECT_THAT(Read("file"), IsOkAndHolds("file"));
}

TEST_P(DirTest, ARootThatIsASymlinkIsWhereItLeads) {
  dir_.MakeLink("alias", "root");
  const Dir alias = *BlockOn(Dir::Open(dir_ / "alias"));
  EXPECT_EQ(alias.metadata_at_open().inode(),
            root_->metadata_at_open().inode());
  EXPECT_THAT(BlockOn(Dir::Open(dir_ / "root/file")), ErrnoIs(ENOTDIR));
  EXPECT_THAT(BlockOn(Dir::Open("a\0b"sv)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(DirTest, OpeningAFifoDoesNotWait) {
  dir_.MakeFifo("root/fifo");
  absl::StatusOr<File> fifo = BlockOn(root_->OpenFile("fifo"));
  ASSERT_THAT(fifo, IsOk());
  EXPECT_EQ(fifo->metadata_at_open().type(), FileType::kFifo);
}

TEST_P(DirTest, LeavesNoDescriptorOpen) {
  dir_.MakeLink("root/to_folder", "folder/deep");
  const int before = OpenDescriptors();
  for (int i = 0; i < 100; ++i) {
    Read("to_folder/bottom").IgnoreError();
    Read("to_folder/nothing").IgnoreError();
    BlockOn(root_->OpenDir("to_folder")).IgnoreError();
    BlockOn(root_->Stat("to_folder")).IgnoreError();
    BlockOn(root_->List("to_folder")).IgnoreError();
  }
  EXPECT_EQ(OpenDescriptors(), before);

  ManualOffload jobs;
  OffloadScope scope(jobs);
  Context cx(NoopWaker());
  for (int i = 0; i < 100; ++i) {
    auto file = root_->OpenFile("to_folder/bottom");
    auto dir = root_->OpenDir("to_folder");
    EXPECT_TRUE(file.Poll(cx).IsPending());
    EXPECT_TRUE(dir.Poll(cx).IsPending());
    if (i % 2 == 0) continue;
    while (jobs.RunOne()) {
    }
  }
  jobs.DropAll();
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(DirTest, IsCloseOnExec) {
  EXPECT_NE(fcntl(root_->native_handle(), F_GETFD) & FD_CLOEXEC, 0);
  absl::StatusOr<File> file = BlockOn(root_->OpenFile("folder/inner"));
  EXPECT_NE(fcntl(file->native_handle(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace weft::fs
