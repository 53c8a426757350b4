// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fs/file_future.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/tests/fs/fixture.h"
#include "weft/tests/fs/test_offload.h"

namespace weft::fs {
namespace {

using IntFuture = FileFuture<absl::StatusOr<int>>;
static_assert(Future<IntFuture> && kMovableAfterPoll<IntFuture>);

TEST(FileFutureTest, GivesWhatTheJobReturns) {
  ThreadOffload offload;
  OffloadScope scope(offload);
  EXPECT_THAT(BlockOn(IntFuture([] { return absl::StatusOr<int>(7); })),
              IsOkAndHolds(7));
  EXPECT_THAT(BlockOn(IntFuture([]() -> absl::StatusOr<int> {
                return absl::NotFoundError("gone");
              })),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(offload.jobs(), 2u);
}

TEST(FileFutureTest, StartsNothingBeforeItIsPolled) {
  ManualOffload offload;
  OffloadScope scope(offload);
  IntFuture future([] { return absl::StatusOr<int>(7); });
  EXPECT_EQ(offload.waiting(), 0u);

  Context cx(NoopWaker());
  EXPECT_TRUE(future.Poll(cx).IsPending());
  EXPECT_EQ(offload.waiting(), 1u);
  IntFuture moved = std::move(future);
  EXPECT_TRUE(moved.Poll(cx).IsPending());
  EXPECT_EQ(offload.waiting(), 1u);

  EXPECT_TRUE(offload.RunOne());
  EXPECT_THAT(*moved.Poll(cx), IsOkAndHolds(7));
}

TEST(FileFutureTest, PrefersTheOffloadOfItsContext) {
  ManualOffload threads, contexts;
  OffloadScope scope(threads);
  Environment environment;
  environment.offload = &contexts;
  Context cx(NoopWaker(), nullptr, &environment);
  IntFuture future([] { return absl::StatusOr<int>(7); });
  EXPECT_TRUE(future.Poll(cx).IsPending());
  EXPECT_EQ(threads.waiting(), 0u);
  EXPECT_EQ(contexts.waiting(), 1u);
}

TEST(FileFutureTest, SpendsBudgetOnlyWhenReady) {
  ManualOffload offload;
  OffloadScope scope(offload);
  IntFuture future([] { return absl::StatusOr<int>(7); });
  Budget spent(0), one(1);
  Context without(NoopWaker(), &spent), with(NoopWaker(), &one);
  EXPECT_TRUE(future.Poll(without).IsPending());
  EXPECT_EQ(offload.waiting(), 0u);

  EXPECT_TRUE(future.Poll(with).IsPending());
  EXPECT_EQ(one.units(), 1u);
  offload.RunOne();
  EXPECT_TRUE(future.Poll(with).IsReady());
  EXPECT_EQ(one.units(), 0u);
}

TEST(FileFutureTest, AJobThatNeverRunsIsCancelled) {
  ManualOffload offload;
  OffloadScope scope(offload);
  IntFuture future([] { return absl::StatusOr<int>(7); });
  Context cx(NoopWaker());
  EXPECT_TRUE(future.Poll(cx).IsPending());
  offload.DropAll();
  EXPECT_THAT(*future.Poll(cx), StatusIs(absl::StatusCode::kCancelled));
}

TEST(FileFutureTest, DroppedBeforeItsJobStartsItNeverRuns) {
  ManualOffload offload;
  OffloadScope scope(offload);
  auto counter = std::make_shared<int>(0);
  std::optional<IntFuture> future(
      [counter] { return absl::StatusOr<int>(++*counter); });
  Context cx(NoopWaker());
  EXPECT_TRUE(future->Poll(cx).IsPending());
  future.reset();
  while (offload.RunOne()) {
  }
  EXPECT_EQ(*counter, 0);
  EXPECT_EQ(counter.use_count(), 1);
}

TEST(FileFutureTest, CanBeDroppedAtEveryPoll) {
  ManualOffload offload;
  OffloadScope scope(offload);
  DropAtEveryPollOptions options;
  options.step = [&] { return offload.RunOne(); };
  options.settle = [&] {
    while (offload.RunOne()) {
    }
  };
  EXPECT_THAT(
      DropAtEveryPoll(
          [] { return IntFuture([] { return absl::StatusOr<int>(7); }); },
          options),
      IsOkAndHolds(2u));
}

}  // namespace
}  // namespace weft::fs
