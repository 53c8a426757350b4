// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReadFile: the whole contents of a file.
//
//   absl::StatusOr<std::string> text =
//       co_await fs::ReadFile("/proc/self/stat");
//
// Opens, reads to the end of the file and closes, as one job. The end is where
// a read gives nothing, never where the reported size says: files made up by
// the kernel claim size 0, others grow meanwhile.
//
// Of a FIFO it reads what is written until the last writer closes; until there
// is a writer it waits, and a thread of the pool with it.
//
// Errors: NotFound and so on, with errno, operation and path; EFBIG if there
// are more than `max_bytes`; InvalidArgument for a path with a NUL in it.
// Thread safety: any thread, with an Offload (file_future.h).
// Lifetime: the path is copied.
// Dropping: nothing is lost of a file; of a FIFO, what has been read.
#ifndef WEFT_FS_READ_FILE_H_
#define WEFT_FS_READ_FILE_H_

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "weft/fs/file_future.h"

namespace weft::fs {

FileFuture<absl::StatusOr<std::string>> ReadFile(
    std::string_view path,
    size_t max_bytes = std::numeric_limits<size_t>::max());

}  // namespace weft::fs

#endif  // WEFT_FS_READ_FILE_H_
