// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Times are mapped to uint64_t in order (the sign bit is flipped).
// The invariant that everything rests on: each entry is in the slot where it
// would be put if it were inserted now. When `elapsed` goes from a to b, and L
// is the highest digit in which they differ, then
//   - below level L every entry is due, for it shares digit L with a;
//   - at level L the slots before b's digit are due as a whole;
//   - the slot of b's digit is taken apart: what is left goes below level L,
//     where all slots are empty by now, so that equal deadlines stay in order;
//   - all other slots stay as they are.
// Lower levels and earlier slots come first in time, so the due entries are in
// order when each slot is.
#include "weft/timer/wheel.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace weft::timer_internal {
namespace {

uint64_t Key(int64_t time) {
  return static_cast<uint64_t>(time) ^ (uint64_t{1} << 63);
}
int64_t Time(uint64_t key) {
  return static_cast<int64_t>(key ^ (uint64_t{1} << 63));
}

// Merges two sorted chains (linked by `next` alone); `a` first where equal.
WheelEntry* Merge(WheelEntry* a, WheelEntry* b) {
  WheelEntry* merged = nullptr;
  WheelEntry** end = &merged;
  while (a != nullptr && b != nullptr) {
    WheelEntry*& first = b->deadline < a->deadline ? b : a;
    *end = first;
    end = &first->next;
    first = first->next;
  }
  *end = a != nullptr ? a : b;
  return merged;
}

// Cuts the sorted beginning off `chain` and returns it.
WheelEntry* TakeRun(WheelEntry*& chain) {
  WheelEntry* run = chain;
  WheelEntry* last = run;
  while (last->next != nullptr && last->deadline <= last->next->deadline) {
    last = last->next;
  }
  chain = std::exchange(last->next, nullptr);
  return run;
}

// A stable merge sort of runs: linear where little is out of order.
WheelEntry* Sort(WheelEntry* chain) {
  constexpr int kPiles = 64;
  WheelEntry* piles[kPiles] = {};  // piles[i]: 2^i runs, or none
  while (chain != nullptr) {
    WheelEntry* sorted = TakeRun(chain);
    int i = 0;
    while (piles[i] != nullptr) {
      sorted = Merge(std::exchange(piles[i++], nullptr), sorted);
    }
    piles[i] = sorted;
  }
  WheelEntry* sorted = nullptr;
  for (WheelEntry* pile : piles) sorted = Merge(pile, sorted);
  return sorted;
}

}  // namespace

void Wheel::List::Append(WheelEntry& entry) {
  entry.next = nullptr;
  if (first == nullptr) {
    first = entry.previous = &entry;
    return;
  }
  entry.previous = first->previous;
  entry.previous->next = first->previous = &entry;
}

void Wheel::List::Unlink(WheelEntry& entry) {
  if (&entry == first) {
    first = entry.next;
  } else {
    entry.previous->next = entry.next;
  }
  if (entry.next != nullptr) {
    entry.next->previous = entry.previous;
  } else if (first != nullptr) {
    first->previous = entry.previous;
  }
}

bool Wheel::Insert(WheelEntry& entry) {
  if (entry.deadline <= elapsed_) return false;
  const uint64_t key = Key(entry.deadline);
  const int level = (63 - std::countl_zero(key ^ Key(elapsed_))) / kBits;
  const int slot = static_cast<int>(key >> (level * kBits)) & (kSlots - 1);
  entry.level = static_cast<uint8_t>(level);
  entry.slot = static_cast<uint8_t>(slot);
  slots_[level][slot].Append(entry);
  occupied_[level] |= uint64_t{1} << slot;
  occupied_levels_ |= uint32_t{1} << level;
  ++size_;
  return true;
}

void Wheel::Remove(WheelEntry& entry) {
  --size_;
  const int level = std::exchange(entry.level, WheelEntry::kNowhere);
  if (level == kDue) return due_.Unlink(entry);
  List& list = slots_[level][entry.slot];
  list.Unlink(entry);
  if (list.first != nullptr) return;
  occupied_[level] &= ~(uint64_t{1} << entry.slot);
  if (occupied_[level] == 0) occupied_levels_ &= ~(uint32_t{1} << level);
}

// Empties a slot and returns its chain.
WheelEntry* Wheel::TakeSlot(int level, int slot) {
  occupied_[level] &= ~(uint64_t{1} << slot);
  if (occupied_[level] == 0) occupied_levels_ &= ~(uint32_t{1} << level);
  return std::exchange(slots_[level][slot].first, nullptr);
}

void Wheel::MakeDue(WheelEntry* sorted) {
  while (sorted != nullptr) {
    WheelEntry* next = sorted->next;
    sorted->level = kDue;
    due_.Append(*sorted);
    sorted = next;
  }
}

void Wheel::Advance(int64_t now) {
  if (now <= elapsed_) return;
  const uint64_t key = Key(now);
  const int top = (63 - std::countl_zero(key ^ Key(elapsed_))) / kBits;
  const int top_slot = static_cast<int>(key >> (top * kBits)) & (kSlots - 1);
  elapsed_ = now;
  for (int level = 0; level < top; ++level) {
    while (occupied_[level] != 0) {
      MakeDue(Sort(TakeSlot(level, std::countr_zero(occupied_[level]))));
    }
  }
  while (occupied_[top] != 0) {
    const int slot = std::countr_zero(occupied_[top]);
    if (slot > top_slot) return;
    WheelEntry* chain = TakeSlot(top, slot);
    if (slot < top_slot) {
      MakeDue(Sort(chain));
      continue;
    }
    WheelEntry* due = nullptr;
    WheelEntry** due_end = &due;
    while (chain != nullptr) {
      WheelEntry* entry = std::exchange(chain, chain->next);
      --size_;
      if (Insert(*entry)) continue;
      ++size_;
      *due_end = entry;
      due_end = &entry->next;
    }
    *due_end = nullptr;
    MakeDue(Sort(due));
  }
}

WheelEntry* Wheel::PopDue() {
  WheelEntry* entry = due_.first;
  if (entry != nullptr) Remove(*entry);
  return entry;
}

WheelEntry* Wheel::PopAny() {
  if (due_.first != nullptr) return PopDue();
  if (occupied_levels_ == 0) return nullptr;
  const int level = std::countr_zero(occupied_levels_);
  WheelEntry* entry = slots_[level][std::countr_zero(occupied_[level])].first;
  Remove(*entry);
  return entry;
}

int64_t Wheel::Next(size_t look_at_most) const {
  if (due_.first != nullptr) return due_.first->deadline;
  int64_t next = std::numeric_limits<int64_t>::max();
  if (occupied_levels_ == 0) return next;
  const int level = std::countr_zero(occupied_levels_);
  const int slot = std::countr_zero(occupied_[level]);
  const WheelEntry* entry = slots_[level][slot].first;
  for (; entry != nullptr && look_at_most != 0; entry = entry->next) {
    --look_at_most;
    if (entry->deadline < next) next = entry->deadline;
  }
  if (entry == nullptr) return next;
  // The first deadline with this slot's digit and, above it, elapsed's.
  const int shift = level * kBits;
  const uint64_t above =
      level + 1 == kLevels ? 0 : Key(elapsed_) >> (shift + kBits);
  return Time(((above << kBits) | static_cast<uint64_t>(slot)) << shift);
}

}  // namespace weft::timer_internal
