// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Wheel: a hierarchical timing wheel of intrusive entries. Internal.
//
// Insert, Remove and a move to another deadline take constant time, whatever is
// in it, and nothing is allocated. Deadlines are nanoseconds, all of int64_t.
//
// State. `elapsed` is the moment up to which everything has been handed out.
// Both it and the deadlines are read as eleven digits of six bits. An entry
// lives in the slot [level][digit] where `level` is the highest digit in which
// its deadline differs from `elapsed`: so each level spans what lies beyond the
// one below, equal deadlines share a slot in order of insertion, and the first
// occupied slot of the lowest occupied level holds the earliest entry. When
// `elapsed` enters a slot, what is not due goes to levels below.
//
// The lowest digit is one nanosecond: nothing is rounded, and so nothing can be
// early. A coarser tick would save levels (three of eleven for one of 1 ms) but
// hardly any work: few entries that are due together are sorted, not taken down
// level by level, and entries that are removed long before they are due, as
// most are, do not move at all.
//
// Source of the idea: Varghese, Lauck: "Hashed and Hierarchical Timing Wheels",
// SOSP 1987; the occupancy masks and the digits are those of Tokio's wheel.
//
// Thread safety: one thread at a time.
// Lifetime: an entry stays where it is while it is in a wheel, and leaves it
// before either is destroyed.
#ifndef WEFT_TIMER_WHEEL_H_
#define WEFT_TIMER_WHEEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::timer_internal {

struct WheelEntry {
  WheelEntry() = default;
  WheelEntry(const WheelEntry&) = delete;  // neighbours hold its address
  WheelEntry& operator=(const WheelEntry&) = delete;

  static constexpr uint8_t kNowhere = 0xff;

  int64_t deadline = 0;  // constant while in a wheel

  // The wheel's.
  WheelEntry* next = nullptr;
  WheelEntry* previous = nullptr;  // the first one's is the last one
  uint8_t level = kNowhere;
  uint8_t slot = 0;
};

class Wheel {
 public:
  explicit Wheel(int64_t elapsed) : elapsed_(elapsed) {}
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  int64_t elapsed() const { return elapsed_; }
  size_t size() const { return size_; }

  // Adds `entry`, which is in no wheel. False, and nothing is done, if its
  // deadline is not after elapsed().
  bool Insert(WheelEntry& entry);

  // Removes `entry`, which is in this wheel, due or not.
  void Remove(WheelEntry& entry);

  // Goes forward to `now`; does nothing if that is not after elapsed(). What
  // has become due is then for PopDue.
  void Advance(int64_t now);

  // Removes and returns the next entry that is due, or null: in the order of
  // deadlines, and where these are equal, of insertion.
  WheelEntry* PopDue();

  // Removes and returns any entry, or null if there is none.
  WheelEntry* PopAny();

  // The earliest deadline, or the maximum of int64_t if there is no entry.
  // Looks at all entries of one slot, which may be many.
  int64_t NextDeadline() const {
    return Next(std::numeric_limits<size_t>::max());
  }

  // When to look again: NextDeadline(), but where more than a few entries share
  // the first slot, the beginning of that slot. Constant time. After elapsed()
  // unless some entries are due already.
  int64_t NextExpiry() const { return Next(kFew); }

  // Of an empty wheel: starts over at `elapsed`, which may be earlier.
  void Restart(int64_t elapsed) { elapsed_ = elapsed; }

 private:
  static constexpr int kBits = 6;
  static constexpr int kLevels = 11;  // 66 bits hold a uint64_t
  static constexpr int kSlots = 1 << kBits;
  static constexpr uint8_t kDue = kLevels;  // as a level: in due_
  // How many entries NextExpiry looks at: few enough to be cheap, enough for
  // most programs never to wake for nothing.
  static constexpr size_t kFew = 16;

  struct List {
    WheelEntry* first = nullptr;

    void Append(WheelEntry& entry);
    void Unlink(WheelEntry& entry);
  };

  WheelEntry* TakeSlot(int level, int slot);
  void TakeApart(WheelEntry* chain);
  void MakeDue(WheelEntry* sorted);
  int64_t SlotBegin(int level, int slot) const;
  int64_t Next(size_t look_at_most) const;

  int64_t elapsed_;
  size_t size_ = 0;
  uint32_t occupied_levels_ = 0;              // bit l: occupied_[l] != 0
  std::array<uint64_t, kLevels> occupied_{};  // bit s: slots_[l][s] has entries
  List due_;  // deadline <= elapsed_, in the order of PopDue
  std::array<std::array<List, kSlots>, kLevels> slots_{};
};

}  // namespace weft::timer_internal

#endif  // WEFT_TIMER_WHEEL_H_
