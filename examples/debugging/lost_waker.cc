// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A future that keeps one waker, and two tasks that wait for it: the second one's
// takes the place of the first one's, which nobody can wake any more.

#include <cstdio>
#include <utility>

#include "weft/executor/executor.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace {

class Mailbox {
 public:
  // The waker of whoever asked last: here is the mistake.
  weft::Task<> Arrival() {
    co_await weft::PollFn([this](weft::Context& cx) -> weft::Polled<void> {
      if (full_) return weft::Unit();
      reader_ = cx.waker();
      return weft::kPending;
    });
  }
  void Fill() {
    full_ = true;
    std::exchange(reader_, weft::Waker()).WakeByRef();
  }

 private:
  bool full_ = false;
  weft::Waker reader_;
};

weft::Task<> Read(Mailbox* mailbox) { co_await mailbox->Arrival(); }

weft::Task<> Main(weft::Executor* executor, Mailbox* mailbox) {
  weft::JoinHandle<> first =
      weft::SpawnBuilder().Name("first").SpawnBorrowing(Read(mailbox));
  weft::JoinHandle<> second =
      weft::SpawnBuilder().Name("second").SpawnBorrowing(Read(mailbox));
  for (int i = 0; i < 5; ++i) co_await weft::YieldNow();
  mailbox->Fill();
  co_await second;
  std::printf("%s", executor->Dump().ToString().c_str());
}

}  // namespace

int main() {
  Mailbox mailbox;
  weft::Executor executor;
  executor.Run(Main(&executor, &mailbox));
}
