// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TempFolder: a folder for one test, removed with everything in it at the end.
//
// Thread safety: one thread at a time.
#ifndef WEFT_TESTS_EXAMPLES_TEMP_FOLDER_H_
#define WEFT_TESTS_EXAMPLES_TEMP_FOLDER_H_

#include <string>
#include <string_view>

namespace weft::testing {

class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::string& path() const { return path_; }
  // The path of `name` in it.
  std::string PathOf(std::string_view name) const;

  void Write(std::string_view name, std::string_view content) const;
  void MakeFolder(std::string_view name) const;
  void MakeSymlink(std::string_view name, std::string_view target) const;
  void MakeFifo(std::string_view name) const;
  // Puts `from` in the place of `to`, in one step.
  void Rename(std::string_view from, std::string_view to) const;
  std::string Read(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace weft::testing

#endif  // WEFT_TESTS_EXAMPLES_TEMP_FOLDER_H_
