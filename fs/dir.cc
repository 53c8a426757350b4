// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/dir.h"

#include <fcntl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/fs/beneath.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/file.h"
#include "weft/fs/file_future.h"
#include "weft/fs/metadata.h"
#include "weft/fs/open_file.h"
#include "weft/fs/open_options.h"
#include "weft/fs/read_dir.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"
#include "weft/task/check.h"

namespace weft::fs {
namespace {

using fs_internal::MakeOpenFile;
using fs_internal::OpenBeneath;
using fs_internal::OpenFile;
using io::Fd;

constexpr int kFolder = O_RDONLY | O_DIRECTORY;

absl::StatusOr<File> OpenFileBeneath(const OpenFile& folder,
                                     const std::string& path,
                                     const OpenOptions& options) {
  absl::StatusOr<int> flags = options.Flags();
  if (!flags.ok()) return flags.status();
  absl::StatusOr<std::shared_ptr<OpenFile>> file = MakeOpenFile(
      OpenBeneath(folder.fd.get(), path, *flags, options.mode()), path);
  if (!file.ok()) return file.status();
  return File(*std::move(file));
}

absl::StatusOr<Metadata> StatBeneath(const OpenFile& folder,
                                     const std::string& path) {
  // O_PATH needs no permission on the file itself.
  absl::StatusOr<Fd> fd = OpenBeneath(folder.fd.get(), path, O_PATH);
  if (!fd.ok()) return fd.status();
  return fs_internal::StatFd(fd->get(), path);
}

absl::StatusOr<std::vector<DirEntry>> ListBeneath(const OpenFile& folder,
                                                  const std::string& path) {
  absl::StatusOr<Fd> fd = OpenBeneath(folder.fd.get(), path, kFolder);
  if (!fd.ok()) return fd.status();
  return fs_internal::ReadAllEntries(*std::move(fd), path);
}

}  // namespace

FileFuture<absl::StatusOr<Dir>> Dir::Open(std::string_view path) {
  return FileFuture<absl::StatusOr<Dir>>([path = std::string(path)] {
    return FromFolder(MakeOpenFile(fs_internal::OpenPath(path, kFolder), path));
  });
}

FileFuture<absl::StatusOr<File>> Dir::OpenFile(
    std::string_view path, const OpenOptions& options) const {
  return FileFuture<absl::StatusOr<File>>(
      [folder = folder(), path = std::string(path), options] {
        return OpenFileBeneath(*folder, path, options);
      });
}

FileFuture<absl::StatusOr<Dir>> Dir::OpenDir(std::string_view path) const {
  return FileFuture<absl::StatusOr<Dir>>(
      [folder = folder(), path = std::string(path)] {
        return FromFolder(
            MakeOpenFile(OpenBeneath(folder->fd.get(), path, kFolder), path));
      });
}

FileFuture<absl::StatusOr<Metadata>> Dir::Stat(std::string_view path) const {
  return FileFuture<absl::StatusOr<Metadata>>(
      [folder = folder(), path = std::string(path)] {
        return StatBeneath(*folder, path);
      });
}

FileFuture<absl::StatusOr<std::vector<DirEntry>>> Dir::List(
    std::string_view path) const {
  return FileFuture<absl::StatusOr<std::vector<DirEntry>>>(
      [folder = folder(), path = std::string(path)] {
        return ListBeneath(*folder, path);
      });
}

DirStream Dir::ReadDir(std::string_view path) const {
  std::string copy(path);
  return DirStream(
      [folder = folder(), copy] {
        return OpenBeneath(folder->fd.get(), copy, kFolder);
      },
      copy);
}

const Metadata& Dir::metadata_at_open() const {
  return folder()->metadata_at_open;
}

int Dir::native_handle() const { return folder()->fd.get(); }

absl::StatusOr<Dir> Dir::FromFolder(absl::StatusOr<SharedFolder> folder) {
  if (!folder.ok()) return folder.status();
  return Dir(*std::move(folder));
}

const Dir::SharedFolder& Dir::folder() const {
  WEFT_CHECK(folder_ != nullptr, "this Dir was moved from");
  return folder_;
}

}  // namespace weft::fs
