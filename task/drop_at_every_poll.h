// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DropAtEveryPoll: drops a future at each point where it can be dropped.
//
// Runs factory() to its end once and counts the polls, N. Then runs it again
// and again, dropping it after 0, 1, ... N - 1 polls, and once more to its end.
// After each run no clone of the waker may be left and no counted object alive
// that was not alive before.
//
//   LiveCounter counter;
//   EXPECT_THAT(DropAtEveryPoll([&] { return Copy(counter.Make()); },
//                               {.live = [&] { return counter.live(); }}),
//               IsOkAndHolds(3));
//
// Thread safety: one thread; the future is polled on the calling one.
#ifndef WEFT_TASK_DROP_AT_EVERY_POLL_H_
#define WEFT_TASK_DROP_AT_EVERY_POLL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "weft/task/context.h"
#include "weft/task/future.h"

namespace weft {

struct DropAtEveryPollOptions {
  // Called when the future is pending and has not been woken: makes something
  // happen (sets an event, turns an executor, advances a clock). Returns false
  // when there is nothing more to do, which fails the run.
  std::function<bool()> step = nullptr;
  // Called after the future is gone, before anything is checked; lets an
  // executor finish what was cancelled.
  std::function<void()> settle = nullptr;
  // How many counted objects exist.
  std::function<int64_t()> live = nullptr;
  // A future that is not ready after so many polls fails.
  size_t max_polls = 10'000;
};

namespace task_internal {

class DroppedFuture {
 public:
  virtual ~DroppedFuture() = default;
  // True when ready; the output is destroyed.
  virtual bool Poll(Context& cx) = 0;
};

absl::StatusOr<size_t> RunDropAtEveryPoll(
    absl::FunctionRef<std::unique_ptr<DroppedFuture>()> make,
    const DropAtEveryPollOptions& options);

}  // namespace task_internal

// `factory` is called for each run and returns a fresh future. Returns N, or
// what was wrong and after how many polls.
template <class Factory>
absl::StatusOr<size_t> DropAtEveryPoll(
    Factory factory, const DropAtEveryPollOptions& options = {}) {
  // Constructed in place: the future may not be movable.
  struct Holder final : task_internal::DroppedFuture {
    explicit Holder(Factory& factory) : future(factory()) {}
    bool Poll(Context& cx) override { return future.Poll(cx).IsReady(); }
    std::invoke_result_t<Factory&> future;
  };
  return task_internal::RunDropAtEveryPoll(
      [&factory]() -> std::unique_ptr<task_internal::DroppedFuture> {
        return std::make_unique<Holder>(factory);
      },
      options);
}

}  // namespace weft

#endif  // WEFT_TASK_DROP_AT_EVERY_POLL_H_
