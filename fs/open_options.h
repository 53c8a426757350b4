// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OpenOptions: how a file is opened.
//
//   auto log = fs::OpenOptions().Append().Create();
//   auto data = fs::OpenOptions().Read().Write().Create().Mode(0600);
//
// As made it opens for reading. Write() or Append() open for writing, and for
// reading too only if Read() is said.
//
// Thread safety: as an int.
#ifndef WEFT_FS_OPEN_OPTIONS_H_
#define WEFT_FS_OPEN_OPTIONS_H_

#include <sys/types.h>

#include "absl/status/statusor.h"

namespace weft::fs {

class OpenOptions {
 public:
  OpenOptions() = default;

  OpenOptions& Read(bool on = true) { return Set(read_, on); }
  OpenOptions& Write(bool on = true) { return Set(write_, on); }
  // Each write goes to the end of the file, whatever its offset says.
  OpenOptions& Append(bool on = true) { return Set(append_, on); }
  // An existing file is emptied. Needs Write().
  OpenOptions& Truncate(bool on = true) { return Set(truncate_, on); }
  // A missing file is made. Needs Write() or Append().
  OpenOptions& Create(bool on = true) { return Set(create_, on); }
  // The file is made by this call, which fails with AlreadyExists if there is
  // anything of that name, even a dangling symlink.
  OpenOptions& CreateNew(bool on = true) { return Set(create_new_, on); }
  // The permission bits of a file that is made, less the umask; 0666 if not
  // said.
  OpenOptions& Mode(mode_t mode) {
    mode_ = mode;
    return *this;
  }

  bool creates() const { return create_ || create_new_; }
  mode_t mode() const { return mode_; }
  // As open(2) wants them; InvalidArgument for a combination that means
  // nothing.
  absl::StatusOr<int> Flags() const;

 private:
  OpenOptions& Set(bool& option, bool on) {
    option = on;
    return *this;
  }

  bool read_ = false;
  bool write_ = false;
  bool append_ = false;
  bool truncate_ = false;
  bool create_ = false;
  bool create_new_ = false;
  mode_t mode_ = 0666;
};

}  // namespace weft::fs

#endif  // WEFT_FS_OPEN_OPTIONS_H_
