// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/fs/temp_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "weft/task/check.h"

namespace weft::fs {

TempDir::TempDir() {
  const char* base = std::getenv("TEST_TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/weft_fs_XXXXXX";
  WEFT_CHECK(mkdtemp(path_.data()) != nullptr, "no folder for this test");
}

TempDir::~TempDir() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TempDir::operator/(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

std::string TempDir::MakeFile(std::string_view name,
                              std::string_view contents) const {
  std::string path = *this / name;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  stream.close();
  WEFT_CHECK(stream.good(), "cannot write " + path);
  return path;
}

std::string TempDir::MakeDir(std::string_view name) const {
  std::string path = *this / name;
  WEFT_CHECK(mkdir(path.c_str(), 0755) == 0, "cannot make " + path);
  return path;
}

std::string TempDir::MakeLink(std::string_view name,
                              std::string_view target) const {
  std::string path = *this / name;
  WEFT_CHECK(symlink(std::string(target).c_str(), path.c_str()) == 0,
             "cannot make " + path);
  return path;
}

std::string TempDir::MakeFifo(std::string_view name) const {
  std::string path = *this / name;
  WEFT_CHECK(mkfifo(path.c_str(), 0600) == 0, "cannot make " + path);
  return path;
}

std::string Contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream),
                     std::istreambuf_iterator<char>());
}

int OpenDescriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count - 1;  // the iterator's own
}

}  // namespace weft::fs
