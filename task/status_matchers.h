// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// GoogleMock matchers for absl::Status and absl::StatusOr.
//
//   EXPECT_THAT(stream.Flush(), IsOk());
//   EXPECT_THAT(Read(), IsOkAndHolds(StartsWith("GET ")));
//   EXPECT_THAT(Connect(), StatusIs(absl::StatusCode::kUnavailable));
//   EXPECT_THAT(Connect(), ErrnoIs(ECONNREFUSED));
#ifndef WEFT_TASK_STATUS_MATCHERS_H_
#define WEFT_TASK_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "weft/task/status.h"

namespace weft {
namespace task_internal {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <class T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// Matches a Status, or a StatusOr by its status.
class StatusMatcher {
 public:
  using is_gtest_matcher = void;

  StatusMatcher(testing::Matcher<absl::StatusCode> code,
                testing::Matcher<const std::string&> message,
                testing::Matcher<int> error)
      : code_(std::move(code)),
        message_(std::move(message)),
        error_(std::move(error)) {}

  template <class S>
  bool MatchAndExplain(const S& result,
                       testing::MatchResultListener* listener) const {
    const absl::Status& status = StatusOf(result);
    *listener << "which is " << status.ToString();
    return code_.Matches(status.code()) &&
           message_.Matches(std::string(status.message())) &&
           error_.Matches(ErrnoOf(status));
  }
  void DescribeTo(std::ostream* os) const {
    *os << "has a status whose code ";
    code_.DescribeTo(os);
    *os << ", whose message ";
    message_.DescribeTo(os);
    *os << " and whose errno ";
    error_.DescribeTo(os);
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "not: ";
    DescribeTo(os);
  }

 private:
  testing::Matcher<absl::StatusCode> code_;
  testing::Matcher<const std::string&> message_;
  testing::Matcher<int> error_;
};

// Matches a StatusOr that has a value matched by M.
template <class M>
class ValueMatcher {
 public:
  using is_gtest_matcher = void;

  explicit ValueMatcher(M value) : value_(std::move(value)) {}

  template <class T>
  bool MatchAndExplain(const absl::StatusOr<T>& result,
                       testing::MatchResultListener* listener) const {
    if (!result.ok()) {
      *listener << "which is " << result.status().ToString();
      return false;
    }
    return testing::SafeMatcherCast<const T&>(value_).MatchAndExplain(*result,
                                                                      listener);
  }
  void DescribeTo(std::ostream* os) const {
    *os << "is OK and has the wanted value";
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "is not OK or has another value";
  }

 private:
  M value_;
};

}  // namespace task_internal

// An OK Status, or a StatusOr with a value.
inline task_internal::StatusMatcher IsOk() {
  return {absl::StatusCode::kOk, testing::_, testing::_};
}

// A StatusOr whose value is matched by `value`, a matcher or a value.
template <class M>
task_internal::ValueMatcher<M> IsOkAndHolds(M value) {
  return task_internal::ValueMatcher<M>(std::move(value));
}

// A Status or StatusOr with this code and, if given, this message.
inline task_internal::StatusMatcher StatusIs(
    testing::Matcher<absl::StatusCode> code,
    testing::Matcher<const std::string&> message = testing::_) {
  return {std::move(code), std::move(message), testing::_};
}

// A Status or StatusOr that was made from this errno value (task/status.h).
inline task_internal::StatusMatcher ErrnoIs(testing::Matcher<int> error) {
  return {testing::_, testing::_, std::move(error)};
}

}  // namespace weft

#endif  // WEFT_TASK_STATUS_MATCHERS_H_
