// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/priority_heap.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "weft/sync/priority_message.h"

namespace weft::sync_internal {
namespace {

using Entry = PriorityHeap::Entry;

constexpr size_t ParentOf(size_t i) { return (i - 1) / 2; }

// Whether what is at `i` is before all that is below, or else after it.
constexpr bool IsFirstLevel(size_t i) { return std::bit_width(i + 1) % 2 == 1; }

// Whether `a` is nearer than `b` to the end that levels of this kind lead to.
bool IsNearer(bool first_level, const Entry& a, const Entry& b) {
  if (a.rank != b.rank) return (a.rank > b.rank) == first_level;
  return a.sequence != b.sequence && (a.sequence < b.sequence) == first_level;
}

}  // namespace

void PriorityHeap::Push(PriorityMessage& message) {
  entries_.push_back({message.rank, sequence_++, &message});
  SiftUp(entries_.size() - 1);
}

size_t PriorityHeap::Last() const {
  if (size() <= 2) return size() - 1;
  return IsNearer(/*first_level=*/false, entries_[1], entries_[2]) ? 1 : 2;
}

PriorityMessage& PriorityHeap::PopAt(size_t i) {
  PriorityMessage& message = *entries_[i].message;
  entries_[i] = entries_.back();
  entries_.pop_back();
  if (i < size()) SiftDown(i);
  return message;
}

void PriorityHeap::SiftUp(size_t i) {
  if (i == 0) return;
  bool first_level = IsFirstLevel(i);
  const size_t parent = ParentOf(i);
  if (IsNearer(!first_level, entries_[i], entries_[parent])) {
    std::swap(entries_[i], entries_[parent]);
    i = parent;
    first_level = !first_level;
  }
  while (i > 2) {
    const size_t grandparent = ParentOf(ParentOf(i));
    if (!IsNearer(first_level, entries_[i], entries_[grandparent])) return;
    std::swap(entries_[i], entries_[grandparent]);
    i = grandparent;
  }
}

void PriorityHeap::SiftDown(size_t i) {
  const bool first_level = IsFirstLevel(i);
  for (;;) {
    // The nearest of this one, its children and its grandchildren.
    size_t nearest = i;
    const auto look = [&](size_t from, size_t count) {
      for (size_t j = from; j < std::min(from + count, size()); ++j) {
        if (IsNearer(first_level, entries_[j], entries_[nearest])) nearest = j;
      }
    };
    look(2 * i + 1, 2);
    look(4 * i + 3, 4);
    if (nearest == i) return;
    std::swap(entries_[i], entries_[nearest]);
    // A child that is nearer than all of its own has none.
    if (nearest <= 2 * i + 2) return;
    const size_t parent = ParentOf(nearest);
    if (IsNearer(!first_level, entries_[nearest], entries_[parent])) {
      std::swap(entries_[nearest], entries_[parent]);
    }
    i = nearest;
  }
}

}  // namespace weft::sync_internal
