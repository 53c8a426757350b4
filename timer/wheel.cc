// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Times are mapped to uint64_t in order (the sign bit is flipped).
// The invariant that everything rests on: each entry is in the slot where it
// would be put if it were inserted now. Going forward, the first occupied slot
// of the lowest occupied level, S, comes next; all else is later.
//   - While `elapsed` stays before S begins, every entry stays where it is: it
//     has the digits of `elapsed` above its level, and a greater one there.
//   - When `elapsed` enters S, that slot's entries, and no others, have to
//   move,
//     to levels below. These are empty then, so equal deadlines stay in order.
// A slot with few entries, or sorted ones, is taken apart at once: what is due
// is sorted, the rest inserted anew. One with many is distributed to the levels
// below first, as by a radix sort, which touches each entry fewer times.
#include "weft/timer/wheel.h"

#include <algorithm>
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

// True if `chain` has few entries or is sorted.
bool IsEasyToSort(const WheelEntry* chain) {
  constexpr int kFew = 256;  // they stay in the cache meanwhile
  bool sorted = true;
  for (int count = 0; chain->next != nullptr; chain = chain->next) {
    sorted = sorted && chain->deadline <= chain->next->deadline;
    if (++count >= kFew && !sorted) return false;
  }
  return true;
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
  while (occupied_levels_ != 0) {
    const int level = std::countr_zero(occupied_levels_);
    const int slot = std::countr_zero(occupied_[level]);
    const int64_t begin = SlotBegin(level, slot);
    if (begin > now) break;
    WheelEntry* chain = TakeSlot(level, slot);
    const uint64_t length = uint64_t{1} << (level * kBits);
    const int64_t last = Time(Key(begin) + (length - 1));
    elapsed_ = IsEasyToSort(chain) ? std::min(now, last) : begin;
    TakeApart(chain);
  }
  elapsed_ = std::max(elapsed_, now);
}

// Makes due what is due at `elapsed_`, and inserts the rest of `chain`.
void Wheel::TakeApart(WheelEntry* chain) {
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
  return SlotBegin(level, slot);
}

// The first deadline of a slot: it has the slot's digit, elapsed's above that,
// and zeros below.
int64_t Wheel::SlotBegin(int level, int slot) const {
  const int shift = level * kBits;
  const uint64_t above =
      level + 1 == kLevels ? 0 : Key(elapsed_) >> (shift + kBits);
  return Time(((above << kBits) | static_cast<uint64_t>(slot)) << shift);
}

}  // namespace weft::timer_internal
