// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Three faults that only some orders of events show, each with a scenario that
// Explore() runs with one seed after the other: a wakeup that is lost, an update
// that is lost, and a permit that is lost where a task is cancelled.

#include <cstdio>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/explore.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace {

using weft::DeterministicExecutor;
using weft::JoinHandle;
using weft::SpawnBorrowing;
using weft::Task;
using weft::YieldNow;

// ---- Looks, then, in another poll, leaves its waker ----

class Mailbox {
 public:
  Task<> Arrival() {
    if (full_) co_return;
    co_await YieldNow();  // somebody may fill it now
    bool asked = false;
    co_await weft::PollFn([&](weft::Context& cx) -> weft::Polled<void> {
      if (std::exchange(asked, true)) return weft::Unit();
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

Task<> Deliver(Mailbox* mailbox) {
  for (int i = 0; i < 5; ++i) co_await YieldNow();
  mailbox->Fill();
}

Task<> Receive(Mailbox* mailbox) {
  JoinHandle<> postman = SpawnBorrowing(Deliver(mailbox));
  co_await mailbox->Arrival();
  co_await postman;
}

absl::Status LostWakeup(DeterministicExecutor& executor) {
  Mailbox mailbox;
  return executor.Run(Receive(&mailbox));
}

// ---- Reads, waits, writes ----

Task<> Deposit(int* account) {
  const int balance = *account;
  co_await YieldNow();
  *account = balance + 1;
}

Task<> DepositTwice(int* account) {
  JoinHandle<> first = SpawnBorrowing(Deposit(account));
  for (int i = 0; i < 4; ++i) co_await YieldNow();
  JoinHandle<> second = SpawnBorrowing(Deposit(account));
  co_await first;
  co_await second;
}

absl::Status WrongOrder(DeterministicExecutor& executor) {
  int account = 0;
  absl::Status status = executor.Run(DepositTwice(&account));
  if (!status.ok()) return status;
  return account == 2 ? status : absl::DataLossError("a deposit is lost");
}

// ---- Gives back at its end, but not where it is cancelled before ----

Task<> Work(int* permits) {
  for (int i = 0; i < 3; ++i) co_await YieldNow();
  --*permits;
  co_await YieldNow();
  ++*permits;
  for (int i = 0; i < 3; ++i) co_await YieldNow();
}

Task<> WorkAndCancel(int* permits) {
  JoinHandle<> worker = SpawnBorrowing(Work(permits));
  for (int i = 0; i < 4; ++i) co_await YieldNow();
  co_await std::move(worker).Cancel();
}

absl::Status MissedCancel(DeterministicExecutor& executor) {
  int permits = 1;
  absl::Status status = executor.Run(WorkAndCancel(&permits));
  if (!status.ok()) return status;
  return permits == 1 ? status : absl::DataLossError("a permit is lost");
}

void Show(const char* name,
          absl::Status (*scenario)(DeterministicExecutor& executor)) {
  const auto failure = weft::Explore(10'000, scenario);
  std::ostringstream text;
  if (failure.has_value()) text << *failure;
  std::printf("== %s\n%s\n", name, text.str().c_str());
}

}  // namespace

int main() {
  Show("lost wakeup", &LostWakeup);
  Show("wrong order", &WrongOrder);
  Show("missed cancel", &MissedCancel);
}
