// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PriorityMessage: a value on its way through a priority channel, and its rank, which
// compares as its priority does. Internal.
//
// Ranks are integers, so that messages can be compared under the channel's lock
// without running anybody's code.
#ifndef WEFT_SYNC_PRIORITY_MESSAGE_H_
#define WEFT_SYNC_PRIORITY_MESSAGE_H_

#include <cstdint>
#include <type_traits>
#include <utility>

namespace weft::sync_internal {

// All that the channel itself knows of it.
struct PriorityMessage {
  explicit PriorityMessage(uint64_t rank) : rank(rank) {}

  const uint64_t rank;
};

template <class T>
struct PriorityMessageOf final : PriorityMessage {
  static_assert(std::is_nothrow_move_constructible_v<T> &&
                    std::is_nothrow_destructible_v<T>,
                "what goes through a channel is moved without throwing; put it "
                "into a std::unique_ptr");

  template <class U>
  PriorityMessageOf(uint64_t rank, U&& value)
      : PriorityMessage(rank), value(std::forward<U>(value)) {}

  T value;
};

// Of an integer of up to 64 bits, or an enum of that size.
template <class Priority>
constexpr uint64_t RankOf(Priority priority) {
  if constexpr (std::is_enum_v<Priority>) {
    return RankOf(static_cast<std::underlying_type_t<Priority>>(priority));
  } else if constexpr (std::is_signed_v<Priority>) {
    // The least becomes 0.
    return static_cast<uint64_t>(int64_t{priority}) ^ (uint64_t{1} << 63);
  } else {
    return uint64_t{priority};
  }
}

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_PRIORITY_MESSAGE_H_
