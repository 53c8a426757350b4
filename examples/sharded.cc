// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A key-value store in shards, one per thread. A key's tasks run on its thread,
// so a shard is a plain map that nothing guards.

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/executor/thread_per_core.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"

namespace {

// The map of the calling thread.
[[gnu::noinline]] std::map<std::string, int>& Shard() {
  static thread_local std::map<std::string, int> shard;
  return shard;
}

weft::Task<int> Add(std::string key, int n) {
  const int sum = Shard()[key] += n;
  co_return sum;
}

// Adds to a key, on the thread of the key.
weft::JoinHandle<int> AddTo(const weft::ThreadPerCore& threads,
                            const std::string& key, int n) {
  return threads.SpawnByKey(key, [key, n] { return Add(key, n); });
}

}  // namespace

int main() {
  absl::StatusOr<weft::ThreadPerCore> threads = weft::ThreadPerCore::Start(
      weft::ThreadPerCoreOptions().Threads(3).Pinned());
  if (!threads.ok()) return 1;
  const std::vector<std::string> keys = {"apples", "pears", "plums",
                                         "cherries"};
  std::vector<weft::JoinHandle<int>> additions;
  for (int n = 1; n <= 100; ++n) {
    for (const std::string& key : keys) {
      additions.push_back(AddTo(*threads, key, n));
    }
  }
  for (weft::JoinHandle<int>& addition : additions) weft::BlockOn(addition);
  for (const std::string& key : keys) {
    std::printf("%s %d\n", key.c_str(), weft::BlockOn(AddTo(*threads, key, 0)));
  }
}
