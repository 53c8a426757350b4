// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/counted_ref.h"

#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace weft {
namespace {

using task_internal::CountedRef;

// Counts the references, of which there is one at first.
class Counted {
 public:
  int references() const { return references_; }

 private:
  friend CountedRef<Counted>;
  void Ref() { ++references_; }
  void Unref() { --references_; }

  int references_ = 1;
};

TEST(CountedRefTest, TakesOverAReferenceAndGivesItBack) {
  Counted object;
  {
    const CountedRef<Counted> ref(&object);
    EXPECT_TRUE(ref);
    EXPECT_EQ(ref.get(), &object);
    EXPECT_EQ(&*ref, &object);
    EXPECT_EQ(ref->references(), 1);
  }
  EXPECT_EQ(object.references(), 0);
}

TEST(CountedRefTest, ACopyTakesOneMore) {
  Counted object;
  std::optional<CountedRef<Counted>> ref(&object);

  const CountedRef<Counted> copy = *ref;
  EXPECT_EQ(object.references(), 2);

  ref.reset();
  EXPECT_EQ(object.references(), 1);
  EXPECT_EQ(copy.get(), &object);
}

TEST(CountedRefTest, AMoveTakesNoneAndLeavesNull) {
  Counted object;
  CountedRef<Counted> ref(&object);

  const CountedRef<Counted> moved = std::move(ref);

  EXPECT_EQ(moved.get(), &object);
  EXPECT_FALSE(ref);  // NOLINT: it says so
  EXPECT_EQ(object.references(), 1);
}

TEST(CountedRefTest, AssignmentGivesTheOldOneBack) {
  Counted old_object;
  Counted new_object;
  CountedRef<Counted> ref(&old_object);
  const CountedRef<Counted> other(&new_object);

  ref = other;
  EXPECT_EQ(old_object.references(), 0);
  EXPECT_EQ(new_object.references(), 2);

  const auto& itself = ref;
  ref = itself;
  EXPECT_EQ(new_object.references(), 2);

  ref = {};
  EXPECT_FALSE(ref);
  EXPECT_EQ(new_object.references(), 1);
}

TEST(CountedRefTest, NullCopiesAndGoes) {
  const CountedRef<Counted> null;
  const CountedRef<Counted> copy = null;

  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.get(), nullptr);
}

}  // namespace
}  // namespace weft
