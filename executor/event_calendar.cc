// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/event_calendar.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "weft/executor/deterministic_executor.h"
#include "weft/task/instant.h"

namespace weft {
namespace {

// After everything that was scheduled for `time`.
std::pair<Instant, uint64_t> EndOf(Instant time) {
  return {time, std::numeric_limits<uint64_t>::max()};
}

}  // namespace

EventCalendar::EventCalendar(DeterministicExecutor& executor)
    : executor_(executor) {
  executor_.AddSource(*this);
}

EventCalendar::~EventCalendar() {
  executor_.RemoveSource(*this);
  for (const auto& [key, event] : events_) event->calendar_ = nullptr;
}

void EventCalendar::Schedule(Event& event, Instant due) {
  if (event.calendar_ != nullptr) event.calendar_->Cancel(event);
  event.calendar_ = this;
  event.key_ = {due, ++scheduled_};
  events_.emplace(event.key_, &event);
}

void EventCalendar::Cancel(Event& event) {
  if (event.calendar_ != this) return;
  events_.erase(event.key_);
  event.calendar_ = nullptr;
}

size_t EventCalendar::ready() const {
  return static_cast<size_t>(
      std::distance(events_.begin(), events_.upper_bound(EndOf(Now()))));
}

void EventCalendar::Happen(size_t which) {
  Event& event =
      *std::next(events_.begin(), static_cast<std::ptrdiff_t>(which))->second;
  Cancel(event);
  event.Happen();
}

Instant EventCalendar::NextTime() const {
  const auto next = events_.upper_bound(EndOf(Now()));
  return next == events_.end() ? Instant::Infinite() : next->first.first;
}

std::string EventCalendar::Describe(size_t which) const {
  return std::next(events_.begin(), static_cast<std::ptrdiff_t>(which))
      ->second->Describe();
}

}  // namespace weft
