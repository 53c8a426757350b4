// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Three tasks that do what a task should not: one asks a thousand times whether
// something has happened, one keeps 20 kB in its coroutine's frame, and one waits for
// what never gets its waker.

#include <array>
#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "weft/executor/executor.h"
#include "weft/executor/task_lints.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace {

// It should wait for an event.
weft::Task<> AskAgainAndAgain() {
  for (int i = 0; i < 2000; ++i) co_await weft::YieldNow();
}

using Page = std::array<char, 20'000>;
[[gnu::noinline]] void Fill(Page& page) { page.fill('x'); }

// The page should be in a std::vector.
weft::Task<char> KeepAPage() {
  Page page;
  Fill(page);
  co_await weft::YieldNow();
  co_return page[7];
}

// Who makes a future by hand has to keep the waker.
weft::Task<> WaitForMail() {
  co_await weft::PollFn(
      [](weft::Context&) -> weft::Polled<void> { return weft::kPending; });
}

weft::Task<> Main() {
  weft::JoinHandle<> asks =
      weft::SpawnBuilder().Name("asks").Spawn(AskAgainAndAgain());
  co_await asks;
  co_await KeepAPage();
  weft::SpawnBuilder().Name("mail").Spawn(WaitForMail()).Detach();
  co_await weft::YieldNow();
}

}  // namespace

int main() {
  weft::Executor executor;
  weft::TaskLintsOptions options;
  options.on_report = [](const weft::LintReport& report) {
    std::printf("%s: %s", std::string(weft::LintName(report.lint)).c_str(),
                report.text.c_str());
  };
  absl::StatusOr<weft::TaskLints> lints =
      weft::TaskLints::Start(executor, options);
  if (!lints.ok()) return 1;
  executor.Run(Main());
}
