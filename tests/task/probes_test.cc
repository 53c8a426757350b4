// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/probes.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

#if __has_include(<sys/sdt.h>)
constexpr bool kThereIsSdt = true;
#else
constexpr bool kThereIsSdt = false;
#endif

// One probe of this program, as the notes in it say.
struct Note {
  std::string name;
  std::string semaphore;
  std::string arguments;
};

std::string ReadNotes() {
  std::array<char, 4096> path{};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) return "";
  const std::string command =
      "readelf --wide --notes '" + std::string(path.data()) + "'";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), n);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

// What follows `key` in `line`, to the next comma or its end.
std::string After(const std::string& line, const std::string& key) {
  const size_t at = line.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return line.substr(begin, line.find(',', begin) - begin);
}

// Those of the provider weft.
std::vector<Note> Notes() {
  std::vector<Note> notes;
  bool ours = false;
  std::istringstream lines(ReadNotes());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Provider: ") != std::string::npos) {
      ours = After(line, "Provider: ") == "weft";
    }
    if (!ours) continue;
    if (line.find("Name: ") != std::string::npos) {
      notes.push_back(
          {.name = After(line, "Name: "), .semaphore = "", .arguments = ""});
    } else if (line.find("Semaphore: ") != std::string::npos) {
      notes.back().semaphore = After(line, "Semaphore: ");
    } else if (line.find("Arguments: ") != std::string::npos) {
      notes.back().arguments = After(line, "Arguments: ");
    }
  }
  return notes;
}

size_t CountArguments(const Note& note) {
  std::istringstream words(note.arguments);
  return static_cast<size_t>(
      std::distance(std::istream_iterator<std::string>(words), {}));
}

TEST(ProbesTest, TheProgramHasThemWhereThereIsSdt) {
  if (!kThereIsSdt) {
    GTEST_SKIP() << "<sys/sdt.h> is not installed (systemtap-sdt-dev)";
  }
  const std::vector<Note> notes = Notes();
  std::vector<std::string> found;
  for (const Note& note : notes) {
    found.push_back(note.name + " " + std::to_string(CountArguments(note)));
    // Its address, without which nobody could attach.
    EXPECT_NE(note.semaphore.find_first_of("123456789abcdef"),
              std::string::npos)
        << note.name;
  }
  EXPECT_THAT(found, UnorderedElementsAre("task_spawn 1", "task_poll_begin 2",
                                          "task_poll_end 3", "task_end 3",
                                          "runner_park 1", "runner_unpark 1"));
}

TEST(ProbesTest, TheProgramHasNoneWhereThereIsNoSdt) {
  if (kThereIsSdt) GTEST_SKIP() << "<sys/sdt.h> is installed";
  EXPECT_THAT(Notes(), IsEmpty());
}

// As if somebody had attached to all of them.
class Attached {
 public:
  Attached() { SetAll(1); }
  ~Attached() { SetAll(0); }

 private:
  static void SetAll(unsigned short users) {
    weft_task_spawn_semaphore = users;
    weft_task_poll_begin_semaphore = users;
    weft_task_poll_end_semaphore = users;
    weft_task_end_semaphore = users;
    weft_runner_park_semaphore = users;
    weft_runner_unpark_semaphore = users;
  }
};

Task<int> YieldOnce() {
  co_await YieldNow();
  co_return 7;
}

TEST(ProbesTest, TasksRunAsBeforeWhileTheyAreUsed) {
  const Attached attached;
  ManualExecutor executor;
  JoinHandle<int> named =
      SpawnBuilder().Name("reader").On(executor.spawner()).Spawn(YieldOnce());
  JoinHandle<int> unnamed = executor.Spawn(YieldOnce());
  {
    JoinHandle<> dropped = executor.Spawn(Pending());
  }
  const task_internal::RunnerParkProbes parked(0);
  EXPECT_EQ(executor.Run(named), 7);
  EXPECT_EQ(executor.Run(unnamed), 7);
}

}  // namespace
}  // namespace weft
