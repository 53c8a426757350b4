// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server that ends well: it takes no more connections, lets those that it has
// finish what they are doing and say goodbye, and gives up on those that take too
// long.
//
// Two tokens do that, one the child of the other: `stop` asks, `kill` does not ask
// any more. A TaskTracker tells when everybody is gone.

#include <cstdio>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/select/cancellation_token.h"
#include "weft/select/task_tracker.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"
#include "weft/timer/deadline_token.h"
#include "weft/timer/sleep.h"

namespace {

// On one thread, so they need no lock.
struct Counts {
  int goodbyes = 0;
  int killed = 0;
};

// Serves requests, each of which takes so long, until asked to stop.
weft::Task<> ServeRequests(Counts* counts, absl::Duration request,
                           weft::CancellationToken stop) {
  while (!stop.IsCancelled()) co_await weft::timer::After(request);
  if (absl::IsUnavailable(stop.reason())) ++counts->goodbyes;
}

weft::Task<> Serve(Counts* counts, absl::Duration request,
                   weft::CancellationToken stop, weft::CancellationToken kill) {
  auto serving =
      kill.RunUntilCancelled(ServeRequests(counts, request, std::move(stop)));
  const auto served = co_await serving;
  if (!served.has_value()) ++counts->killed;
}

weft::Task<> RunServer(Counts* counts) {
  weft::CancellationSource kill;
  weft::CancellationSource stop(kill.token());
  weft::TaskTracker connections;
  for (int i = 0; i < 10; ++i) {
    // The last one is stuck. `counts` outlives the wait below.
    const absl::Duration request =
        i < 9 ? absl::Milliseconds(1 + i) : absl::Hours(1);
    auto serve = [=, stop = stop.token(), kill = kill.token()] {
      return Serve(counts, request, stop, kill);
    };
    connections.Spawn(std::move(serve)).Detach();
  }
  co_await weft::timer::After(absl::Milliseconds(20));  // until a signal, say

  stop.Cancel(absl::UnavailableError("the server is going down"));
  connections.Close();
  const weft::timer::DeadlineToken grace =
      weft::timer::CancelAfter(absl::Milliseconds(100));
  auto all_gone = grace.token().RunUntilCancelled(connections.Wait());
  const auto gone = co_await all_gone;
  if (!gone.has_value()) kill.Cancel(grace.token().reason());
  co_await connections.Wait();
}

}  // namespace

int main() {
  absl::StatusOr<weft::Runtime> runtime =
      weft::RuntimeBuilder().CurrentThread().EnableAll().Build();
  if (!runtime.ok()) return 1;
  Counts counts;
  runtime->BlockOn(RunServer(&counts));
  std::printf("%d connections said goodbye, %d took too long\n",
              counts.goodbyes, counts.killed);
}
