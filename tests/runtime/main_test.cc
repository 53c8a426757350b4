// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/main.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/status.h"
#include "weft/task/task.h"

namespace weft {
namespace {

TEST(MainTest, AnIntIsTheExitCode) { EXPECT_EQ(Main(Ready(7)), 7); }

TEST(MainTest, VoidIsSuccess) { EXPECT_EQ(Main(Ready()), 0); }

TEST(MainTest, AStatusDecides) {
  EXPECT_EQ(Main(Ready(absl::OkStatus())), 0);
  EXPECT_EQ(Main(Ready(absl::NotFoundError("no such thing"))), 1);
  EXPECT_EQ(Main(Ready(absl::StatusOr<int>(3))), 0);
  EXPECT_EQ(Main(Ready(absl::StatusOr<int>(absl::AbortedError("no")))), 1);
}

TEST(MainTest, TheStatusIsPrinted) {
  testing::internal::CaptureStderr();
  Main(Ready(absl::NotFoundError("no such thing")));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "NOT_FOUND: no such thing\n");
}

TEST(MainTest, AStatusWithoutAMessageIsExplained) {
  testing::internal::CaptureStderr();
  Main(Ready(DeadlineStatus()));
  Main(Ready(ClosedStatus()));
  Main(Ready(absl::Status(absl::StatusCode::kDataLoss, "")));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "DEADLINE_EXCEEDED: a Timeout ran out\n"
            "FAILED_PRECONDITION: the other side is gone, or the object was "
            "closed\n"
            "DATA_LOSS: (no message)\n");
}

TEST(MainTest, TasksLeftOverAreCancelled) {
  bool destroyed = false;
  struct Flag {
    explicit Flag(bool* flag) : flag(flag) {}
    Flag(Flag&& other) noexcept : flag(std::exchange(other.flag, nullptr)) {}
    ~Flag() {
      if (flag != nullptr) *flag = true;
    }
    bool* flag;
  };
  sync::Event never;
  const int code = Main([](bool* destroyed, sync::Event* never) -> Task<int> {
    Spawn([flag = Flag(destroyed), never]() -> Task<> {
      co_await never->Wait();
    }).Detach();
    co_return 0;
  }(&destroyed, &never));
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(destroyed);
}

}  // namespace
}  // namespace weft
