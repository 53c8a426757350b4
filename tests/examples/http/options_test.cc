// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/options.h"

#include <stdlib.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace http {
namespace {

absl::StatusOr<Options> Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "http_file_server");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return ParseOptions(static_cast<int>(argv.size()), argv.data());
}

TEST(OptionsTest, AreThoseOfTheCommandLine) {
  const absl::StatusOr<Options> options = Parse(
      {"--root=/srv", "--metrics=numbers", "--bind=::", "--port=0",
       "--threads=3", "--max_connections=5", "--head_timeout=1s",
       "--idle_timeout=2m", "--send_timeout=3h", "--shutdown_deadline=4ms"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->root, "/srv");
  EXPECT_EQ(options->metrics, "numbers");
  EXPECT_EQ(options->bind, "::");
  EXPECT_EQ(options->port, 0);
  EXPECT_EQ(options->threads, 3);
  EXPECT_EQ(options->max_connections, 5);
  EXPECT_EQ(options->head_timeout, absl::Seconds(1));
  EXPECT_EQ(options->idle_timeout, absl::Minutes(2));
  EXPECT_EQ(options->send_timeout, absl::Hours(3));
  EXPECT_EQ(options->shutdown_deadline, absl::Milliseconds(4));
}

TEST(OptionsTest, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(Parse({"--threads=-1"}).ok());
  EXPECT_FALSE(Parse({"--threads=0", "--max_connections=0"}).ok());
  EXPECT_FALSE(Parse({"--max_connections=1", "stray"}).ok());
}

TEST(OptionsTest, RelativePathsStartAtTheCallersFolder) {
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(FromCallersFolder("a"), "a");
  setenv("BUILD_WORKING_DIRECTORY", "/home/x", 1);
  EXPECT_EQ(FromCallersFolder("a"), "/home/x/a");
  EXPECT_EQ(FromCallersFolder("."), "/home/x/.");
  EXPECT_EQ(FromCallersFolder("/a"), "/a");
  unsetenv("BUILD_WORKING_DIRECTORY");
}

}  // namespace
}  // namespace http
