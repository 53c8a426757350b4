// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/examples/temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "weft/task/check.h"

namespace weft::testing {

TempFolder::TempFolder() {
  const char* base = getenv("TEST_TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/weft_http_XXXXXX";
  WEFT_CHECK(mkdtemp(path_.data()) != nullptr, path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::PathOf(std::string_view name) const {
  return path_ + '/' + std::string(name);
}

void TempFolder::Write(std::string_view name, std::string_view content) const {
  std::ofstream file(PathOf(name), std::ios::binary);
  file << content;
  WEFT_CHECK(file.good(), name);
}

void TempFolder::MakeFolder(std::string_view name) const {
  WEFT_CHECK(mkdir(PathOf(name).c_str(), 0755) == 0, name);
}

void TempFolder::MakeSymlink(std::string_view name,
                             std::string_view target) const {
  std::filesystem::create_symlink(target, PathOf(name));
}

void TempFolder::MakeFifo(std::string_view name) const {
  WEFT_CHECK(mkfifo(PathOf(name).c_str(), 0644) == 0, name);
}

void TempFolder::Rename(std::string_view from, std::string_view to) const {
  WEFT_CHECK(rename(PathOf(from).c_str(), PathOf(to).c_str()) == 0, from);
}

std::string TempFolder::Read(std::string_view name) const {
  std::ifstream file(PathOf(name), std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace weft::testing
