// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/cancel_cases.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/runtime/runtime.h"
#include "weft/select/cancellation_token.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::bench {
namespace {

constexpr size_t kChildren = 10;

// Node i is the parent of 10 i + 1 to 10 i + 10; node 0 is the root.
std::vector<CancellationSource> MakeTree(size_t size) {
  std::vector<CancellationSource> nodes(1);
  nodes.reserve(size);
  while (nodes.size() < size) {
    nodes.emplace_back(nodes[(nodes.size() - 1) / kChildren].token());
  }
  return nodes;
}

Task<> Await(CancellationToken token, std::atomic<size_t>* waiting) {
  waiting->fetch_add(1);
  co_await token.Cancelled();
}

// Returns how long it took until all knew that the root was cancelled.
Task<int64_t> MakeAndCancel(size_t size) {
  const std::vector<CancellationSource> nodes = MakeTree(size);
  std::atomic<size_t> waiting = 0;
  std::vector<JoinHandle<>> handles;
  for (size_t i = (size - 2) / kChildren + 1; i < size; ++i) {
    handles.push_back(SpawnBorrowing(Await(nodes[i].token(), &waiting)));
  }
  while (waiting.load() < handles.size()) co_await YieldNow();
  const int64_t before = NowNs();
  CancellationSource(nodes[0]).Cancel();
  for (JoinHandle<>& handle : handles) co_await handle;
  co_return NowNs() - before;
}

// Records the whole, and as cancel_ns_per_op only from the call of Cancel() on.
void CancelTree(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  std::vector<int64_t> cancelling;
  bench.Measure(bench.size(), [&] {
    cancelling.push_back(
        runtime.BlockOn(runtime.Spawn(MakeAndCancel(bench.size()))));
  });
  std::sort(cancelling.begin() + 1, cancelling.end());
  const auto measured = std::span(cancelling).subspan(1);
  bench.Record("cancel_ns_per_op",
               static_cast<double>(Percentile(measured, 0.5)) /
                   static_cast<double>(bench.size()));
}

constexpr Case kCases[] = {{"cancel_tree_100000", CancelTree}};

}  // namespace

std::span<const Case> CancelCases() { return kCases; }

}  // namespace weft::bench
