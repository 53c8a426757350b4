// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Context: what a poll is given: whom to wake, how much it may do, and where.
//
// A Context carries
//   - the waker: a future that returns pending has kept (a clone of) it;
//   - the budget: how many leaf operations may still succeed in this poll, so
//     that a task whose data never runs dry does not starve its neighbours;
//   - the environment: reactor, timers, clock, spawner, random numbers;
//   - promptness: the promise that a future which is pending and then woken is
//     soon polled again, or destroyed.
//
// How a leaf uses the budget: before doing its work it returns pending if
// !cx.HasBudget() (which then has arranged another poll); when it is ready it
// calls cx.Charge(). Pending results are not charged. A combinator that must
// not mistake a spent budget for "not ready" gives its children a fresh Budget.
//
// How a leaf uses promptness: one that hands things on to one waiter at a time,
// like a channel, trusts a prompt one to take them; with any other it reckons that
// it is woken and never looks. Executors promise it for their tasks, as long as
// they are run. Who polls a future that may outlive the interest in it takes the
// promise back: a Select over lvalues, a set of futures, Next of a stream, an
// awaited lvalue. So does a combinator of your own that keeps a pending future
// without polling it: a leaf below it would wait for a look that does not come.
//
// Thread safety: belongs to one poll on one thread.
// Lifetime: a Context is valid during the poll that it was passed to.
#ifndef WEFT_TASK_CONTEXT_H_
#define WEFT_TASK_CONTEXT_H_

#include <cstdint>

#include "weft/task/environment.h"
#include "weft/task/random.h"
#include "weft/task/waker.h"

namespace weft {

// How many leaf operations may succeed in one poll of a spawned task. The
// number is Tokio's, whose users found it large enough not to cost throughput.
class Budget {
 public:
  static constexpr uint32_t kPerPoll = 128;

  explicit constexpr Budget(uint32_t units = kPerPoll) : units_(units) {}

  constexpr uint32_t units() const { return units_; }
  constexpr bool IsSpent() const { return units_ == 0; }
  constexpr void Charge() { units_ -= units_ != 0; }

 private:
  uint32_t units_;
};

class Context {
 public:
  // Without a budget the poll is unlimited; without an environment it has the
  // calling thread's current one. Promises nothing.
  explicit Context(const Waker& waker, Budget* budget = nullptr,
                   const Environment* environment = nullptr)
      : waker_(&waker), budget_(budget), environment_(environment) {}

  const Waker& waker() const { return *waker_; }
  Budget* budget() const { return budget_; }
  const Environment& environment() const {
    return environment_ != nullptr ? *environment_ : Environment::Current();
  }

  bool IsPrompt() const { return prompt_; }

  // This context with another part; for combinators. The promise was the owner's
  // of the waker, so it goes with that.
  Context WithWaker(const Waker& waker) const {
    return Context(waker, budget_, environment_);
  }
  Context WithBudget(Budget* budget) const {
    Context other = *this;
    other.budget_ = budget;
    return other;
  }
  Context WithEnvironment(const Environment* environment) const {
    Context other = *this;
    other.environment_ = environment;
    return other;
  }
  Context WithPromptness(bool prompt) const {
    Context other = *this;
    other.prompt_ = prompt;
    return other;
  }

  // False if the budget is spent; then the waker has been woken and the caller
  // returns pending.
  bool HasBudget() const {
    if (PeekBudget()) return true;
    waker_->WakeByRef();
    return false;
  }
  // The same, but wakes nobody: for a leaf that only looks, and calls HasBudget()
  // before it is pending for want of a budget.
  bool PeekBudget() const { return budget_ == nullptr || !budget_->IsSpent(); }
  // Counts one leaf operation that succeeded.
  void Charge() const {
    if (budget_ != nullptr) budget_->Charge();
  }

  // The service that `member` names: this environment's, else the calling
  // thread's current environment's, else null.
  template <class Service>
  Service* Find(Service* Environment::* member) const {
    if (environment_ != nullptr && environment_->*member != nullptr) {
      return environment_->*member;
    }
    return Environment::Current().*member;
  }

  Random& random() const {
    Random* random = Find(&Environment::random);
    return random != nullptr ? *random : Random::OfThread();
  }
  const Clock& clock() const {
    const Clock* clock = Find(&Environment::clock);
    return clock != nullptr ? *clock : Clock::Real();
  }

 private:
  const Waker* waker_;
  Budget* budget_;
  const Environment* environment_;
  bool prompt_ = false;
};

}  // namespace weft

#endif  // WEFT_TASK_CONTEXT_H_
