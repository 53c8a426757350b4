// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/local_list.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/live_counter.h"
#include "weft/task/running.h"

namespace weft::task_internal {
namespace {

const char kA = 0;
const char kB = 0;

template <class T, class Fn>
void With(const char& key, T value, Fn fn) {
  CallWithLocal(&key, &value, &kLocalType<T>, fn);
}

template <class T>
T* Find(const char& key) {
  return static_cast<T*>(FindLocal(&key));
}

TEST(LocalListTest, TheInnermostValueCounts) {
  EXPECT_EQ(FindLocal(&kA), nullptr);
  With(kA, 1, [] {
    With(kB, 2, [] {
      With(kA, 3, [] {
        EXPECT_EQ(*Find<int>(kA), 3);
        EXPECT_EQ(*Find<int>(kB), 2);
      });
      EXPECT_EQ(*Find<int>(kA), 1);
    });
    EXPECT_EQ(FindLocal(&kB), nullptr);
  });
  EXPECT_EQ(FindLocal(&kA), nullptr);
}

TEST(LocalListTest, CopiesWhatIsNotHiddenAndCanBeCopied) {
  LiveCounter counter;
  InheritedLocals copies;
  With(kA, std::make_pair(1, counter.Make()), [&] {
    With(kB, std::make_unique<int>(2), [&] {
      With(kA, std::make_pair(3, counter.Make()),
           [&] { copies = InheritedLocals::CopyCurrent(); });
    });
  });

  EXPECT_EQ(counter.live(), 1);
  ASSERT_NE(copies.head(), nullptr);
  EXPECT_EQ(copies.head()->key, &kA);
  EXPECT_EQ(copies.head()->next, nullptr);
  const RunningScope scope({.locals = copies.head()});
  EXPECT_EQ((Find<std::pair<int, LiveCounter::Object>>(kA)->first), 3);
  EXPECT_EQ(FindLocal(&kB), nullptr);

  copies = InheritedLocals();
  EXPECT_EQ(counter.live(), 0);
}

TEST(LocalListTest, CopiesKeepTheirPlaceWhenMoved) {
  InheritedLocals copies;
  With(kA, 1,
       [&] { With(kB, 2, [&] { copies = InheritedLocals::CopyCurrent(); }); });
  const InheritedLocals moved = std::move(copies);

  const RunningScope scope({.locals = moved.head()});
  EXPECT_EQ(*Find<int>(kA), 1);
  EXPECT_EQ(*Find<int>(kB), 2);
}

TEST(LocalListTest, OfNothingThereIsNoCopy) {
  EXPECT_EQ(InheritedLocals::CopyCurrent().head(), nullptr);
}

}  // namespace
}  // namespace weft::task_internal
