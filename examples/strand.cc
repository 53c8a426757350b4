// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A ledger that many threads write to and that has no lock: only the tasks of
// one strand touch it.

#include "weft/executor/strand.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/executor/thread_pool.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace {

class Ledger {
 public:
  void Add(int amount) {
    deposits_.push_back(amount);
    balance_ += amount;
  }
  size_t deposits() const { return deposits_.size(); }
  int balance() const { return balance_; }

 private:
  std::vector<int> deposits_;
  int balance_ = 0;
};

weft::Task<> Deposit(std::shared_ptr<Ledger> ledger, int amount) {
  ledger->Add(amount);
  co_return;
}

// Runs on any thread; sends the deposit to the strand and waits for it.
weft::Task<> Customer(weft::Strand strand, std::shared_ptr<Ledger> ledger,
                      int amount) {
  co_await weft::YieldNow();
  co_await strand.Spawn(Deposit(ledger, amount));
}

}  // namespace

int main() {
  absl::StatusOr<weft::ThreadPool> pool = weft::ThreadPool::Start();
  if (!pool.ok()) return 1;
  const weft::Strand strand(pool->spawner());
  auto ledger = std::make_shared<Ledger>();
  std::vector<weft::JoinHandle<>> customers;
  for (int amount = 1; amount <= 1000; ++amount) {
    customers.push_back(pool->Spawn(Customer(strand, ledger, amount)));
  }
  for (weft::JoinHandle<>& customer : customers) weft::BlockOn(customer);
  std::printf("%zu deposits, balance %d\n", ledger->deposits(),
              ledger->balance());
}
