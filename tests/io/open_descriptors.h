// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OpenDescriptors: how many descriptors this process has, for tests that look
// for leaks.
//
// Thread safety: any thread; the number is of the whole process.
#ifndef WEFT_TESTS_IO_OPEN_DESCRIPTORS_H_
#define WEFT_TESTS_IO_OPEN_DESCRIPTORS_H_

#include <dirent.h>

namespace weft::io {

inline int OpenDescriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(folder)) {
    count += entry->d_name[0] != '.';
  }
  closedir(folder);
  return count - 1;  // without the folder's own
}

}  // namespace weft::io

#endif  // WEFT_TESTS_IO_OPEN_DESCRIPTORS_H_
