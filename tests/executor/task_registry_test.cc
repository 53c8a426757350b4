// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_registry.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Keeps its tasks' Runnables, registers their suspensions as an executor does.
class RegisteringSpawner final : public Spawner {
 public:
  explicit RegisteringSpawner(TaskRegistry& registry) : registry_(registry) {}

  void RunAll() {
    while (!runnables_.empty()) {
      Runnable<SpawnedTask> runnable = std::move(runnables_.back());
      runnables_.pop_back();
      std::move(runnable).Run();
    }
  }
  bool is_owner = true;
  std::atomic<size_t> waiting{0};

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
    runnables_.push_back(std::move(runnable));
  }
  void Register(SpawnedTask& task) override { registry_.AddOwned(task); }
  void Unregister(SpawnedTask& task) override {
    if (is_owner) return registry_.RemoveOwned(task);
    waiting = registry_.Remove(task);
  }

  TaskRegistry& registry_;
  std::vector<Runnable<SpawnedTask>> runnables_;
};

TEST(TaskRegistryTest, TheOwnerAddsAndRemoves) {
  TaskRegistry registry;
  RegisteringSpawner spawner(registry);
  registry.Own();
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(spawner.Spawn(Pending<>()));
  spawner.RunAll();
  EXPECT_EQ(registry.Size(), 3u);
  handles.clear();
  spawner.RunAll();
  EXPECT_EQ(registry.Size(), 0u);
  registry.Disown();
}

TEST(TaskRegistryTest, WhatEndsElsewhereIsTakenOutByTheOwner) {
  TaskRegistry registry;
  RegisteringSpawner spawner(registry);
  registry.Own();
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(spawner.Spawn(Pending<>()));
  spawner.RunAll();
  handles.erase(handles.begin(), handles.begin() + 2);
  std::thread([&] {
    spawner.is_owner = false;
    spawner.RunAll();
  }).join();
  EXPECT_EQ(spawner.waiting.load(), 2u);
  EXPECT_EQ(registry.Size(), 1u);
  registry.Collect();
  EXPECT_EQ(registry.Size(), 1u);
  std::vector<Waker> wakers;
  registry.AppendWakers(wakers);
  EXPECT_EQ(wakers.size(), 1u);
  wakers.clear();
  handles.clear();
  spawner.RunAll();
  registry.Disown();
  EXPECT_EQ(registry.Size(), 0u);
}

TEST(TaskRegistryTest, WithoutAnOwnerAnybodyRemoves) {
  TaskRegistry registry;
  RegisteringSpawner spawner(registry);
  registry.Own();
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 2; ++i) handles.push_back(spawner.Spawn(Pending<>()));
  spawner.RunAll();
  registry.Disown();
  handles.clear();
  std::thread([&] {
    spawner.is_owner = false;
    spawner.RunAll();
  }).join();
  EXPECT_EQ(spawner.waiting.load(), 0u);
  EXPECT_EQ(registry.Size(), 0u);
}

std::vector<std::string> NamesIn(const TaskRegistry& registry) {
  std::vector<std::string> names;
  registry.AppendNames(names);
  return names;
}

std::string NameAndId(const JoinHandle<void>& handle) {
  return std::string(handle.name()) + "#" + std::to_string(handle.id().value());
}

TEST(TaskRegistryTest, NamesAreThoseOfSuspendedTasksThatHaveOne) {
  TaskRegistry registry;
  RegisteringSpawner spawner(registry);
  registry.Own();
  SpawnBuilder named;
  named.Name("reader").On(spawner);
  std::vector<JoinHandle<void>> handles;
  handles.push_back(named.Spawn(Pending<>()));
  EXPECT_THAT(NamesIn(registry), IsEmpty());  // not polled yet
  handles.push_back(spawner.Spawn(Pending<>()));
  handles.push_back(named.Name("writer").Spawn(Pending<>()));
  handles.push_back(named.InheritLocals().Name("").Spawn(Pending<>()));
  spawner.RunAll();

  EXPECT_THAT(NamesIn(registry), UnorderedElementsAre(NameAndId(handles[0]),
                                                      NameAndId(handles[2])));
  EXPECT_EQ(NamesIn(registry)[0].rfind("reader#", 0), 0u);
  handles.erase(handles.begin());
  spawner.RunAll();
  EXPECT_THAT(NamesIn(registry), ElementsAre(NameAndId(handles[1])));
  registry.Disown();
  // Without an owner, too.
  handles.clear();
  spawner.is_owner = false;
  spawner.RunAll();
  EXPECT_THAT(NamesIn(registry), IsEmpty());
}

TEST(TaskRegistryTest, TheNameOfATaskThatEndedElsewhereIsGoneAtOnce) {
  TaskRegistry registry;
  RegisteringSpawner spawner(registry);
  registry.Own();
  JoinHandle<void> handle =
      SpawnBuilder().Name("reader").On(spawner).Spawn(Pending<>());
  spawner.RunAll();
  std::thread([&, handle = std::move(handle)]() mutable {
    EXPECT_THAT(NamesIn(registry), ElementsAre(NameAndId(handle)));
    spawner.is_owner = false;
    {
      const JoinHandle<void> dropped = std::move(handle);
    }
    spawner.RunAll();
    EXPECT_THAT(NamesIn(registry), IsEmpty());
  }).join();
  registry.Disown();
}

TEST(TaskRegistryTest, NamesAreNotMoreThanFitOnALine) {
  TaskRegistry registry;
  RegisteringSpawner spawner(registry);
  registry.Own();
  std::vector<JoinHandle<void>> handles;
  for (size_t i = 0; i < 2 * TaskRegistry::kMaxNames; ++i) {
    handles.push_back(
        SpawnBuilder().Name("reader").On(spawner).Spawn(Pending<>()));
  }
  spawner.RunAll();
  EXPECT_EQ(NamesIn(registry).size(), TaskRegistry::kMaxNames);
  handles.clear();
  spawner.RunAll();
  registry.Disown();
}

}  // namespace
}  // namespace weft::executor_internal
