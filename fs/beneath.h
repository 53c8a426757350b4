// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OpenBeneath: opens a path that must not lead out of a folder. Internal.
//
// A path is relative. Symlinks in it are followed as long as they stay inside;
// refused are
//   - absolute paths, and symlinks to such;
//   - any ".." in the path itself, and one in a symlink that leaves the folder;
//   - the magic links of /proc;
//   - a NUL.
// A backslash, a percent sign or a leading dot is a byte of a name.
//
// The system does the walk where it can (openat2(2), Linux 5.6): no rename can
// trick it. Where that call is missing or forbidden the same walk is made step
// by step, each step with O_NOFOLLOW, from a descriptor that is known to be
// inside, so a rename cannot trick it either.
//
// Errors: PermissionDenied with EXDEV for what leads out; else as open(2).
// Thread safety: any thread; may block.
#ifndef WEFT_FS_BENEATH_H_
#define WEFT_FS_BENEATH_H_

#include <sys/types.h>

#include <string_view>

#include "absl/status/statusor.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {

enum class BeneathMethod {
  kBest,  // the kernel's walk, else ours
  kKernel,
  kWalk,
};

// Opens `path` beneath the folder `root`. `flags` and `mode` are those of
// open(2); O_CLOEXEC is added, and O_NOCTTY and O_NONBLOCK as in OpenAt.
absl::StatusOr<io::Fd> OpenBeneath(int root, std::string_view path, int flags,
                                   mode_t mode = 0,
                                   BeneathMethod method = BeneathMethod::kBest);

// What kBest means from now on, in the whole process; for tests.
void SetBeneathMethodForTesting(BeneathMethod method);

}  // namespace weft::fs_internal

#endif  // WEFT_FS_BENEATH_H_
