// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A hundred downloads, of which never more than eight are under way.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/concurrency_limit.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/timer/sleep.h"

namespace {

struct Counts {
  int now = 0;
  int most = 0;
  int done = 0;
};

// Stands for a download; takes its time.
weft::Task<> Download(Counts* counts) {
  counts->most = std::max(counts->most, ++counts->now);
  co_await weft::timer::After(absl::Milliseconds(1));
  --counts->now;
  ++counts->done;
}

// On one thread, so the counts need no lock.
weft::Task<Counts> DownloadAll(weft::Spawner* spawner) {
  const weft::ConcurrencyLimit limit(*spawner, 8);
  Counts counts;
  std::vector<weft::JoinHandle<>> downloads;
  for (int i = 0; i < 100; ++i) {
    // The handles go before `counts`; nobody drops this task half-way.
    downloads.push_back(limit.SpawnBorrowing(Download(&counts)));
  }
  for (weft::JoinHandle<>& download : downloads) co_await download;
  co_return counts;
}

}  // namespace

int main() {
  absl::StatusOr<weft::Runtime> runtime =
      weft::RuntimeBuilder().CurrentThread().EnableAll().Build();
  if (!runtime.ok()) return 1;
  const Counts counts =
      runtime->BlockOn(DownloadAll(runtime->environment().spawner));
  std::printf("%d downloads, at most %d at a time\n", counts.done, counts.most);
}
