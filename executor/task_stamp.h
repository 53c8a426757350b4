// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskStamp: when a task was made ready, kept in the task until its next poll, if
// that is to be timed. Internal.
//
// A stamp has 32 bits, so that a task does not grow by it:
//   0..3   1 + the logarithm of how many polls it stands for; all 0: no stamp
//   4..31  the moment, in units of 64 ns, modulo 17 s; who waits longer than that
//          seems to have waited for less
// Their upper half lies in the upper half of SpawnedTask::shard, of which an executor
// needs no more than the lower one, and the lower half in SpawnedTask::spare.
//
// Thread safety: what takes a task, by the owner of its Runnable.
#ifndef WEFT_EXECUTOR_TASK_STAMP_H_
#define WEFT_EXECUTOR_TASK_STAMP_H_

#include <cstdint>

#include "weft/task/instant.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {

class TaskStamp {
 public:
  constexpr TaskStamp() = default;
  // Requires: 0 <= shift < 15; it stands for 2^shift polls.
  TaskStamp(Instant now, int shift)
      : word_((UnitsOf(now) << kShiftBits) | static_cast<uint32_t>(shift + 1)) {
  }

  bool IsSet() const { return word_ != 0; }
  // Of one that is set.
  uint64_t Weight() const {
    return uint64_t{1} << ((word_ & ((1u << kShiftBits) - 1)) - 1);
  }
  // Nanoseconds from the stamp to `now`, which is not before it.
  int64_t Age(Instant now) const {
    const uint32_t units =
        (UnitsOf(now) - (word_ >> kShiftBits)) & ((1u << kTimeBits) - 1);
    return static_cast<int64_t>(units) << kUnitBits;
  }

  void PutOn(SpawnedTask& task) const {
    task.shard = (task.shard & 0xffff) | (word_ & 0xffff'0000);
    task.spare = static_cast<uint16_t>(word_);
  }
  // Whether there is one on `task`. One look at its lower half, which is not 0 then:
  // this is asked before each poll.
  static bool IsOn(const SpawnedTask& task) { return task.spare != 0; }
  // Takes it off; not set if there was none. One store: what is left of its upper
  // half says nothing.
  static TaskStamp TakeOff(SpawnedTask& task) {
    TaskStamp stamp;
    if (IsOn(task)) stamp.word_ = (task.shard & 0xffff'0000) | task.spare;
    Drop(task);
    return stamp;
  }
  static void Drop(SpawnedTask& task) { task.spare = 0; }

 private:
  static constexpr int kShiftBits = 4;
  static constexpr int kTimeBits = 28;
  static constexpr int kUnitBits = 6;

  static uint32_t UnitsOf(Instant now) {
    return static_cast<uint32_t>(now.nanoseconds() >> kUnitBits);
  }

  uint32_t word_ = 0;
};

// The rest of `shard`: a number below 2^16.
inline uint32_t PlaceOf(const SpawnedTask& task) { return task.shard & 0xffff; }
inline void SetPlace(SpawnedTask& task, uint32_t place) {
  task.shard = (task.shard & 0xffff'0000) | place;
}

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TASK_STAMP_H_
