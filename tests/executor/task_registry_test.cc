// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_registry.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

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

}  // namespace
}  // namespace weft::executor_internal
