// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of fs share: a folder, and an environment with an offload.
#ifndef WEFT_TESTS_FS_FIXTURE_H_
#define WEFT_TESTS_FS_FIXTURE_H_

#include "gtest/gtest.h"
#include "weft/task/environment.h"
#include "weft/task/offload.h"
#include "weft/tests/fs/temp_dir.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {

// The current environment's offload is `offload`.
class OffloadScope {
 public:
  explicit OffloadScope(Offload& offload)
      : environment_(With(offload)), scope_(environment_) {}

 private:
  static Environment With(Offload& offload) {
    Environment environment = Environment::Current();
    environment.offload = &offload;
    return environment;
  }

  const Environment environment_;
  const EnvironmentScope scope_;
};

class FsTest : public testing::Test {
 protected:
  const TempDir dir_;
  ThreadOffload offload_;
  const OffloadScope scope_{offload_};
};

}  // namespace weft::fs

#endif  // WEFT_TESTS_FS_FIXTURE_H_
