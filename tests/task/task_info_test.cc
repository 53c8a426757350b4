// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task_info.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/abort_handle.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/instrument.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/source_location.h"
#include "weft/task/task.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_monitor.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

using State = TaskInfo::State;
using task_internal::Inspect;
using task_internal::TaskHeader;

// Runnables in the order in which they came.
std::vector<void*> queue;
void Push(Runnable<> runnable) {
  queue.push_back(std::move(runnable).IntoRaw());
}
void RunOne() {
  void* raw = queue.front();
  queue.erase(queue.begin());
  Runnable<>::FromRaw(raw).Run();
}

// A task and a reference of its own, by which it is looked at.
template <class F>
class Subject {
 public:
  explicit Subject(F future, bool local = false) {
    auto spawned = local ? SpawnLocalOn(std::move(future), &Push)
                         : SpawnOn(std::move(future), &Push);
    spawned.runnable.SetSpawnedAt(SourceLocation::current());
    reference_ = spawned.runnable.MakeWaker();
    handle_.emplace(std::move(spawned.handle));
    std::move(spawned.runnable).Schedule();
  }

  TaskInfo Look() const {
    return Inspect(static_cast<TaskHeader*>(reference_.data()));
  }
  JoinHandle<typename F::Output>& handle() { return *handle_; }

 private:
  Waker reference_;
  std::optional<JoinHandle<typename F::Output>> handle_;
};

// Pending; keeps the waker in `kept` if there is one.
Task<> Wait(Waker* kept) {
  bool asked = false;
  co_await PollFn([&](Context& cx) -> Polled<void> {
    if (std::exchange(asked, true)) return Unit();
    if (kept != nullptr) *kept = cx.waker();
    return kPending;
  });
}

class TaskInfoTest : public testing::TestWithParam<bool> {
 protected:
  bool local() const { return GetParam(); }
  void TearDown() override {
    while (!queue.empty()) RunOne();
  }
};
INSTANTIATE_TEST_SUITE_P(BoundToItsThread, TaskInfoTest, testing::Bool());

TEST_P(TaskInfoTest, FollowsATaskToItsEnd) {
  Waker kept;
  Subject subject(Wait(&kept), local());
  EXPECT_EQ(subject.Look().state, State::kScheduled);
  RunOne();
  EXPECT_EQ(subject.Look().state, State::kWaiting);
  EXPECT_EQ(queue.size(), 0u);
  std::move(kept).Wake();
  EXPECT_EQ(subject.Look().state, State::kScheduled);
  RunOne();
  EXPECT_EQ(subject.Look().state, State::kFinished);
}

TEST_P(TaskInfoTest, SaysWhereItWaitsAndWhereItWasSpawned) {
  Waker kept;
  Subject subject(Wait(&kept), local());
  RunOne();
  const TaskInfo info = subject.Look();
  EXPECT_EQ(info.id, subject.handle().id());
  ASSERT_EQ(info.awaits.size(), 2u);
  EXPECT_EQ(ShortFunctionName(info.awaits[0].at.function_name()), "Wait");
  const std::string text = info.ToString();
  EXPECT_NE(text.find("spawned at task_info_test.cc:"), std::string::npos);
  EXPECT_NE(text.find("waits\n  Wait at task_info_test.cc:"), std::string::npos)
      << text;
  std::move(kept).Wake();
}

TEST_P(TaskInfoTest, NoticesThatNobodyHasTheWaker) {
  Waker kept;
  Subject subject(Wait(&kept), local());
  RunOne();
  kept = Waker();
  EXPECT_EQ(subject.Look().state, State::kForgotten);
  // Looking does not help it, nor does it end it.
  EXPECT_EQ(subject.Look().state, State::kForgotten);
  EXPECT_FALSE(subject.handle().IsFinished());
}

// What times it keeps the waker of the task, and gives one of its own.
TEST_P(TaskInfoTest, AWakerThatOnlyTheTaskHasWakesNobody) {
  const TaskMonitor monitor;
  Waker kept;
  Subject subject(Instrument(monitor, Wait(&kept)), local());
  RunOne();
  EXPECT_EQ(subject.Look().state, State::kWaiting);
  Waker other = kept;
  kept = Waker();
  EXPECT_EQ(subject.Look().state, State::kWaiting);
  other = Waker();
  EXPECT_EQ(subject.Look().state, State::kForgotten);
  subject.handle().MakeAbortHandle().Abort();
}

// The waker that it has is that of the other's handle.
TEST_P(TaskInfoTest, NamesTheTaskThatIsWaitedFor) {
  Waker kept;
  Subject child(Wait(&kept), local());
  RunOne();
  static constexpr auto join = [](JoinHandle<>* handle) -> Task<> {
    co_await *handle;
  };
  Subject subject(join(&child.handle()), local());
  RunOne();
  const TaskInfo info = subject.Look();
  EXPECT_EQ(info.state, State::kWaiting);
  ASSERT_EQ(info.awaits.size(), 2u);
  EXPECT_EQ(info.awaits[1].what, "task");
  EXPECT_EQ(info.awaits[1].number, child.Look().id.value());
  std::move(kept).Wake();
}

// The task asks about itself.
TEST_P(TaskInfoTest, OfTheTaskThatAsks) {
  TaskInfo seen;
  const Subject<Task<>>* self = nullptr;
  static constexpr auto look = [](const Subject<Task<>>** self,
                                  TaskInfo* seen) -> Task<> {
    *seen = (*self)->Look();
    co_return;
  };
  Subject subject(look(&self, &seen), local());
  self = &subject;
  RunOne();
  EXPECT_EQ(seen.state, State::kRunning);
  ASSERT_EQ(seen.awaits.size(), 1u);
  EXPECT_TRUE(seen.awaits[0].runs);
}

TEST(TaskInfoElsewhereTest, OfATaskThatIsBoundToAnotherThread) {
  Waker kept;
  Subject subject(Wait(&kept), /*local=*/true);
  RunOne();
  std::thread([&] {
    EXPECT_EQ(subject.Look().state, State::kElsewhere);
  }).join();
  std::move(kept).Wake();
  RunOne();
}

}  // namespace
}  // namespace weft
