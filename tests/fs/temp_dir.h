// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TempDir: a folder for one test, removed with everything in it.
#ifndef WEFT_TESTS_FS_TEMP_DIR_H_
#define WEFT_TESTS_FS_TEMP_DIR_H_

#include <string>
#include <string_view>

namespace weft::fs {

class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::string& path() const { return path_; }
  // The path of `name` in it.
  std::string operator/(std::string_view name) const;

  // These abort if the system refuses. Each returns the path of `name`.
  std::string MakeFile(std::string_view name, std::string_view contents) const;
  std::string MakeDir(std::string_view name) const;
  std::string MakeLink(std::string_view name, std::string_view target) const;
  std::string MakeFifo(std::string_view name) const;

 private:
  std::string path_;
};

// What is in a file now.
std::string Contents(const std::string& path);

// How many descriptors this process has open.
int OpenDescriptors();

}  // namespace weft::fs

#endif  // WEFT_TESTS_FS_TEMP_DIR_H_
