// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// EventCalendar: events of a simulation that have a moment each.
//
// An event that is due may happen; which of several does first, the executor draws.
// The earliest comes first in their order, and of equal ones the one that was
// scheduled first, so the plainest run is the one in which nothing overtakes.
//
//   class Packet final : public EventCalendar::Event {
//     void Happen() override { receiver_.Take(std::move(bytes_)); }
//     std::string Describe() const override { return "a packet"; }
//     …
//   };
//   EventCalendar calendar(executor);
//   calendar.Schedule(packet, calendar.Now() + latency);
//
// Thread safety: none; the thread that runs the executor.
// Lifetime: within the executor's. Events may outlive it, and then never happen.
// Dropping: an event that is destroyed does not happen.
#ifndef WEFT_EXECUTOR_EVENT_CALENDAR_H_
#define WEFT_EXECUTOR_EVENT_CALENDAR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "weft/executor/deterministic_executor.h"
#include "weft/executor/event_source.h"
#include "weft/task/instant.h"

namespace weft {

class EventCalendar final : public EventSource {
 public:
  class Event {
   public:
    Event() = default;
    Event(const Event&) = delete;  // the calendar holds its address
    Event& operator=(const Event&) = delete;

    virtual ~Event() {
      if (calendar_ != nullptr) calendar_->Cancel(*this);
    }

    bool is_scheduled() const { return calendar_ != nullptr; }

   private:
    friend EventCalendar;

    // As those of an EventSource. Not scheduled any more when it happens; it may
    // schedule itself again, or destroy itself.
    virtual void Happen() = 0;
    virtual std::string Describe() const = 0;

    EventCalendar* calendar_ = nullptr;  // if scheduled
    std::pair<Instant, uint64_t> key_;
  };

  // Adds itself to the executor, until it is destroyed.
  explicit EventCalendar(DeterministicExecutor& executor);
  EventCalendar(const EventCalendar&) = delete;
  EventCalendar& operator=(const EventCalendar&) = delete;
  ~EventCalendar() override;

  // The executor's virtual time.
  Instant Now() const { return executor_.clock().Now(); }

  // Lets the event happen at `due` or, if that is over, now; not at the moment for
  // which it was scheduled before, if it was.
  void Schedule(Event& event, Instant due);
  void Cancel(Event& event);

  size_t ready() const override;
  void Happen(size_t which) override;
  Instant NextTime() const override;
  std::string Describe(size_t which) const override;

 private:
  DeterministicExecutor& executor_;
  uint64_t scheduled_ = 0;
  // By their moments, and in the order in which they were scheduled.
  std::map<std::pair<Instant, uint64_t>, Event*> events_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EVENT_CALENDAR_H_
