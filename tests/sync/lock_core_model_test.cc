// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The models of sync/lock_core.h, as Mutex, RwLock and Semaphore use it: what is
// taken is not taken twice, nobody sleeps on beside what he wants, whatever waits
// are dropped, and nothing is touched after somebody may have destroyed it.

#include <atomic>
#include <utility>

#include "gtest/gtest.h"
#include "weft/sync/lock_core.h"
#include "weft/sync/lock_word.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/model_flag.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

using sync_internal::BasicLockCore;
using sync_internal::ExclusionRules;
using sync_internal::LockOrder;
using sync_internal::PermitRules;

// The time goes on by `step` whenever somebody looks: by nothing, or so much that
// everybody who loses a race is starved.
class SteppingClock final : public Clock {
 public:
  explicit SteppingClock(int64_t step) : step_(step) {}
  Instant Now() const override {
    return Instant::FromNanoseconds(now_ += step_);
  }

 private:
  const int64_t step_;
  mutable int64_t now_ = 0;
};
constexpr int64_t kTimeStops = 0;
constexpr int64_t kTimeFlies = 1'000'000;

// What the threads of a model do with a core.
template <class Core, int kThreads>
class Threads {
 public:
  using Request = typename Core::Request;
  using Waiter = typename Core::Waiter;
  using Got = typename Core::Got;

  void Start(sync_internal::Word word, LockOrder order) {
    core.Emplace(word, order);
    for (ModelFlag& flag : woken_) flag.Reset();
  }

  bool Poll(unsigned index, Waiter& waiter, int64_t step) {
    Environment environment;
    SteppingClock clock(step);
    environment.clock = &clock;
    const BorrowedWaker waker = woken_[index].waker();
    Context cx =
        Context(waker.get(), nullptr, &environment).WithPromptness(true);
    return core->Poll(waiter, cx) != Got::kNotYet;
  }
  void Finish(unsigned index, Waiter& waiter, int64_t step) {
    while (!Poll(index, waiter, step)) woken_[index].Wait();
  }
  void Take(unsigned index, Request request, int64_t step = kTimeStops) {
    Waiter waiter(request);
    Finish(index, waiter, step);
  }
  // Polls once and drops the wait, or gives back what it got.
  void TryAndDrop(unsigned index, Request request) {
    Waiter waiter(request);
    if (Poll(index, waiter, kTimeStops)) {
      core->Give(request);
    } else {
      core->Drop(waiter);
    }
  }

  Lazy<Core> core;

 private:
  ModelFlag woken_[kThreads];
};

enum class Scene {
  kTake,    // all take it, one after the other
  kStarve,  // the same, where who loses one race is starved
  kDrop     // the last one gives up waiting
};

constexpr int64_t StepOf(Scene scene) {
  return scene == Scene::kStarve ? kTimeFlies : kTimeStops;
}

template <class Atomics, LockOrder order, Scene scene>
struct MutexModel : rl::test_suite<MutexModel<Atomics, order, scene>, 3> {
  static constexpr auto kWrite = ExclusionRules::kWrite;

  Threads<BasicLockCore<ExclusionRules, Atomics, RelacyMutex>, 3> threads;
  rl::var<int> value;  // written by whoever has the lock

  void before() {
    threads.Start(0, order);
    value(RL_INFO) = 0;
  }
  void after() {
    RL_ASSERT(threads.core->Load() == 0);
    threads.core.Destroy();
  }
  void thread(unsigned index) {
    if (scene == Scene::kDrop && index == 2) {
      threads.TryAndDrop(index, kWrite);
      return;
    }
    threads.Take(index, kWrite, StepOf(scene));
    value(RL_INFO) = static_cast<int>(index);
    threads.core->Give(kWrite);
  }
};

TEST(LockCoreModelTest, OneAtATimeHasALock) {
  EXPECT_TRUE(
      (Holds<MutexModel<RelacyAtomics, LockOrder::kBarging, Scene::kTake>>()));
  EXPECT_TRUE(
      (Holds<MutexModel<RelacyAtomics, LockOrder::kFifo, Scene::kTake>>()));
}

TEST(LockCoreModelTest, AStarvedWaiterIsGivenTheLock) {
  EXPECT_TRUE((
      Holds<MutexModel<RelacyAtomics, LockOrder::kBarging, Scene::kStarve>>()));
}

TEST(LockCoreModelTest, ADroppedWaiterHoldsUpNobody) {
  EXPECT_TRUE(
      (Holds<MutexModel<RelacyAtomics, LockOrder::kBarging, Scene::kDrop>>()));
  EXPECT_TRUE(
      (Holds<MutexModel<RelacyAtomics, LockOrder::kFifo, Scene::kDrop>>()));
}

TEST(LockCoreModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE((Holds<MutexModel<WeakerAtomics<Weaken::kRelease>,
                                 LockOrder::kBarging, Scene::kTake>>()));
  EXPECT_FALSE((Holds<MutexModel<WeakerAtomics<Weaken::kAcquire>,
                                 LockOrder::kBarging, Scene::kTake>>()));
}

// Two permits, of which one thread wants both.
template <LockOrder order, Scene scene>
struct SemaphoreModel : rl::test_suite<SemaphoreModel<order, scene>, 3> {
  Threads<BasicLockCore<PermitRules, RelacyAtomics, RelacyMutex>, 3> threads;
  rl::atomic<int> held;
  rl::var<int> value;  // written by whoever has both

  void before() {
    threads.Start(PermitRules::Make(2), order);
    held(RL_INFO).store(0, rl::mo_relaxed);
    value(RL_INFO) = 0;
  }
  void after() {
    RL_ASSERT(threads.core->Load() == PermitRules::Make(2));
    threads.core.Destroy();
  }
  void thread(unsigned index) {
    const int wanted = index == 1 ? 2 : 1;
    const PermitRules::Request request = {
        static_cast<sync_internal::Word>(wanted)};
    if (scene == Scene::kDrop && index == 1) {
      threads.TryAndDrop(index, request);
      return;
    }
    threads.Take(index, request, StepOf(scene));
    const int before = held(RL_INFO).fetch_add(wanted, rl::mo_relaxed);
    RL_ASSERT(before + wanted <= 2);
    if (wanted == 2) {
      value(RL_INFO) = 1;
    } else {
      static_cast<void>(static_cast<int>(value(RL_INFO)));
    }
    held(RL_INFO).fetch_sub(wanted, rl::mo_relaxed);
    threads.core->Give(request);
  }
};

TEST(LockCoreModelTest, NoMorePermitsAreHeldThanThereAre) {
  EXPECT_TRUE((Holds<SemaphoreModel<LockOrder::kFifo, Scene::kTake>>()));
  EXPECT_TRUE((Holds<SemaphoreModel<LockOrder::kBarging, Scene::kTake>>()));
  EXPECT_TRUE((Holds<SemaphoreModel<LockOrder::kBarging, Scene::kStarve>>()));
}

TEST(LockCoreModelTest, ADroppedWaiterForManyHoldsUpNobody) {
  EXPECT_TRUE((Holds<SemaphoreModel<LockOrder::kFifo, Scene::kDrop>>()));
  EXPECT_TRUE((Holds<SemaphoreModel<LockOrder::kBarging, Scene::kDrop>>()));
}

enum class Upgrade {
  kNone,   // thread 0 writes
  kWaits,  // it reads first, and becomes the writer
  kDrops   // it gives that up
};

// Beside thread 0 there are two that read.
template <Upgrade upgrade>
struct RwLockModel : rl::test_suite<RwLockModel<upgrade>, 3> {
  using Core = BasicLockCore<ExclusionRules, RelacyAtomics, RelacyMutex>;

  Threads<Core, 3> threads;
  rl::var<int> value;

  void before() {
    threads.Start(0, LockOrder::kFifo);
    value(RL_INFO) = 0;
  }
  void after() {
    RL_ASSERT(threads.core->Load() == 0);
    threads.core.Destroy();
  }
  int Read() { return static_cast<int>(value(RL_INFO)); }

  void thread(unsigned index) {
    if (index != 0) {
      threads.Take(index, ExclusionRules::kRead);
      RL_ASSERT(Read() <= 1);
      threads.core->Give(ExclusionRules::kRead);
      return;
    }
    if (upgrade == Upgrade::kNone) {
      threads.Take(index, ExclusionRules::kWrite);
    } else {
      threads.Take(index, ExclusionRules::kUpgradableRead);
      RL_ASSERT(Read() == 0);
      typename Core::Waiter waiter(ExclusionRules::kUpgrade, true);
      if (upgrade == Upgrade::kDrops) {
        if (threads.Poll(index, waiter, kTimeStops)) {
          threads.core->Give(ExclusionRules::kUpgrade);
        } else {
          threads.core->Drop(waiter);
        }
        threads.core->Give(ExclusionRules::kUpgradableRead);
        return;
      }
      threads.Finish(index, waiter, kTimeStops);
    }
    value(RL_INFO) = 1;
    threads.core->Give(ExclusionRules::kWrite);
  }
};

TEST(LockCoreModelTest, AWriterIsAlone) {
  EXPECT_TRUE(Holds<RwLockModel<Upgrade::kNone>>());
}

TEST(LockCoreModelTest, AnUpgradeWaitsForTheReaders) {
  EXPECT_TRUE(Holds<RwLockModel<Upgrade::kWaits>>());
}

TEST(LockCoreModelTest, ADroppedUpgradeHoldsUpNobody) {
  EXPECT_TRUE(Holds<RwLockModel<Upgrade::kDrops>>());
}

// Atomics and a mutex that read `alive` whenever they are used. Whoever destroyed
// them writes it, which is a data race with a use that it does not wait for.
rl::var<int>* alive;
void CheckAlive() { RL_ASSERT(static_cast<int>((*alive)(RL_INFO)) == 1); }

struct MortalAtomics {
  template <class T>
  class Atomic {
   public:
    Atomic(T value) : atomic_(value) {}  // NOLINT: implicit, as std::atomic's

    T load(std::memory_order order) const {
      CheckAlive();
      return atomic_.load(order);
    }
    bool compare_exchange_strong(T& expected, T value,
                                 std::memory_order success,
                                 std::memory_order failure) {
      CheckAlive();
      return atomic_.compare_exchange_strong(expected, value, success, failure);
    }

   private:
    RelacyAtomics::Atomic<T> atomic_;
  };
};

class MortalMutex {
 public:
  void lock() {
    CheckAlive();
    mutex_.lock();
  }
  void unlock() {
    CheckAlive();
    mutex_.unlock();
  }

 private:
  RelacyMutex mutex_;
};

// Thread 0 has it, and gives it back; thread 1 destroys it once it has it. Thread 2,
// if there is one, is in the queue for a while, and gone when it is destroyed.
template <LockOrder order, unsigned kThreads>
struct DestroyModel : rl::test_suite<DestroyModel<order, kThreads>, kThreads> {
  Threads<BasicLockCore<ExclusionRules, MortalAtomics, MortalMutex>, kThreads>
      threads;
  rl::var<int> is_alive;
  rl::atomic<int> is_gone;

  void before() {
    alive = &is_alive;
    is_alive(RL_INFO) = 1;
    is_gone(RL_INFO).store(kThreads == 2, rl::mo_relaxed);
    threads.Start(ExclusionRules::kWriter, order);
  }
  void thread(unsigned index) {
    switch (index) {
      case 0:
        threads.core->Give(ExclusionRules::kWrite);
        break;
      case 1:
        threads.Take(index, ExclusionRules::kWrite);
        if (is_gone(RL_INFO).load(rl::mo_acquire) == 0) {
          threads.core->Give(ExclusionRules::kWrite);
          while (is_gone(RL_INFO).load(rl::mo_acquire) == 0) {
            rl::yield(1, RL_INFO);
          }
          threads.Take(index, ExclusionRules::kWrite);
        }
        threads.core.Destroy();
        is_alive(RL_INFO) = 0;
        break;
      case 2:
        threads.TryAndDrop(index, ExclusionRules::kWrite);
        is_gone(RL_INFO).store(1, rl::mo_release);
        break;
    }
  }
};

TEST(LockCoreModelTest, WhoGetsTheLockMayDestroyIt) {
  EXPECT_TRUE((Holds<DestroyModel<LockOrder::kFifo, 2>>()));
  EXPECT_TRUE((Holds<DestroyModel<LockOrder::kBarging, 2>>()));
  EXPECT_TRUE((Holds<DestroyModel<LockOrder::kFifo, 3>>()));
  EXPECT_TRUE((Holds<DestroyModel<LockOrder::kBarging, 3>>()));
}

}  // namespace
}  // namespace weft
