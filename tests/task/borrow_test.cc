// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/borrow.h"

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft {
namespace {

struct MyView {
  const int* begin;
};

// These say it themselves.
struct MyOtherView {
  static constexpr bool kBorrows = true;
};
struct MyValue {
  static constexpr bool kBorrows = false;
  int* owned = nullptr;
};
struct ViewFuture {
  using Output = void;
  static constexpr bool kBorrows = true;
  Polled<void> Poll(Context&) { return Unit(); }
};

struct MyServer {
  int requests = 0;
};

}  // namespace

template <>
inline constexpr bool kBorrows<MyView> = true;
template <>
inline constexpr bool kReferencesBorrow<MyServer> = false;

namespace {

struct Empty {};

// What a coroutine with one parameter of type P borrows.
template <class P>
Task<> Take(P) {
  co_return;
}
template <class P>
bool BorrowsWhenGiven(P value) {
  return Take<P>(static_cast<P>(value)).Borrows();
}

TEST(BorrowTest, ValuesDoNotBorrow) {
  EXPECT_FALSE(BorrowsWhenGiven(1));
  EXPECT_FALSE(BorrowsWhenGiven(std::string("abc")));
  EXPECT_FALSE(BorrowsWhenGiven(std::vector<int>{1}));
  EXPECT_FALSE(BorrowsWhenGiven(std::make_shared<int>(1)));
  EXPECT_FALSE(Take<std::unique_ptr<int>>(nullptr).Borrows());
}

TEST(BorrowTest, ReferencesBorrow) {
  int number = 1;
  const int constant = 1;

  EXPECT_TRUE(Take<int&>(number).Borrows());
  EXPECT_TRUE(Take<const int&>(constant).Borrows());
  EXPECT_TRUE(Take<int&&>(1).Borrows());
}

TEST(BorrowTest, PointersBorrow) {
  int number = 1;

  EXPECT_TRUE(BorrowsWhenGiven(&number));
  EXPECT_TRUE(Take<int* const>(&number).Borrows());
  EXPECT_TRUE(Take<void*>(nullptr).Borrows());
  EXPECT_TRUE(Take<const char*>("abc").Borrows());
}

TEST(BorrowTest, FunctionsDoNotBorrow) {
  void (*function)() = nullptr;

  EXPECT_FALSE(BorrowsWhenGiven(function));
  EXPECT_FALSE((Take<void (&)()>(*+[] {}).Borrows()));
}

TEST(BorrowTest, ViewsBorrow) {
  std::string text = "abc";
  std::vector<int> numbers = {1};
  auto call = [] {};

  EXPECT_TRUE(BorrowsWhenGiven(std::string_view(text)));
  EXPECT_TRUE(BorrowsWhenGiven(std::wstring_view()));
  EXPECT_TRUE(BorrowsWhenGiven(absl::string_view(text)));
  EXPECT_TRUE(BorrowsWhenGiven(std::span<int>(numbers)));
  EXPECT_TRUE(BorrowsWhenGiven(absl::Span<int>()));
  EXPECT_TRUE(BorrowsWhenGiven(absl::MakeConstSpan(numbers)));
  EXPECT_TRUE(BorrowsWhenGiven(absl::FunctionRef<void()>(call)));
  EXPECT_TRUE(BorrowsWhenGiven(std::ref(text)));
  EXPECT_TRUE(BorrowsWhenGiven(std::initializer_list<int>()));
  EXPECT_TRUE(BorrowsWhenGiven(MyView{nullptr}));
  EXPECT_TRUE(BorrowsWhenGiven(MyOtherView()));
  EXPECT_FALSE(BorrowsWhenGiven(MyValue()));
}

TEST(BorrowTest, ReferencesToWhatOutlivesTasksDoNotBorrow) {
  MyServer server;
  ManualExecutor executor;
  Spawner& spawner = executor.spawner();

  EXPECT_FALSE(BorrowsWhenGiven(&server));
  EXPECT_FALSE(Take<const MyServer*>(&server).Borrows());
  EXPECT_FALSE(Take<MyServer&>(server).Borrows());
  EXPECT_FALSE(Take<const MyServer&>(server).Borrows());
  EXPECT_TRUE(Take<MyServer**>(nullptr).Borrows());
  EXPECT_FALSE(BorrowsWhenGiven(&spawner));
  EXPECT_FALSE(Take<Spawner* const>(&spawner).Borrows());
  EXPECT_FALSE(Take<Spawner&>(spawner).Borrows());
}

TEST(BorrowTest, AFutureBorrowsIfItsCoroutineOrItsTypeDoes) {
  int number = 1;

  EXPECT_TRUE(task_internal::FutureBorrows(ViewFuture()));
  EXPECT_TRUE(task_internal::FutureBorrows(Take<int&>(number)));
  EXPECT_FALSE(task_internal::FutureBorrows(Take<int>(number)));
}

TEST(BorrowTest, AnEmptyObjectHasNothingToDangle) {
  Empty empty;
  EXPECT_FALSE(Take<Empty&>(empty).Borrows());

  auto plain = []() -> Task<> { co_return; };
  EXPECT_FALSE(plain().Borrows());
}

TEST(BorrowTest, AMemberFunctionBorrowsItsObject) {
  struct Object {
    Task<> Run() { co_return; }
    int value = 0;
  };
  Object object;
  EXPECT_TRUE(object.Run().Borrows());

  int number = 1;
  // weft-lint: allow(R4): never polled
  auto capturing = [number]() -> Task<> {
    static_cast<void>(number);
    co_return;
  };
  EXPECT_TRUE(capturing().Borrows());
}

TEST(BorrowTest, OneOfManyParametersIsEnough) {
  auto task = [](int, std::string, const char*) -> Task<> { co_return; };

  EXPECT_TRUE(task(1, "a", "b").Borrows());
}

}  // namespace
}  // namespace weft
