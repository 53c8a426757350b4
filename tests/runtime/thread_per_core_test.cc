// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// A runtime whose tasks stay on their worker. What all flavours promise is in
// runtime_test.cc and shutdown_test.cc.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/allowed_cpus.h"
#include "weft/executor/block_in_place.h"
#include "weft/executor/concurrency_limit.h"
#include "weft/executor/strand.h"
#include "weft/io/read.h"
#include "weft/io/write_all.h"
#include "weft/net/socket_address.h"
#include "weft/net/tcp_listener.h"
#include "weft/net/tcp_stream.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/offload.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

using executor_internal::AllowedCpus;
using std::string_view_literals::operator""sv;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Runtime Make(RuntimeBuilder builder) {
  absl::StatusOr<Runtime> runtime = builder.ThreadPerCore().EnableAll().Build();
  EXPECT_THAT(runtime, IsOk());
  return *std::move(runtime);
}

std::thread::id Here() { return std::this_thread::get_id(); }
Task<std::thread::id> AskWhere() { co_return Here(); }

// Never set; unlike Pending() it keeps the waker of who waits.
sync::Event& Never() {
  static auto* const never = new sync::Event;
  return *never;
}
Task<> Hold(LiveCounter::Object) { co_await Never().Wait(); }

void YieldUntil(const auto& done) {
  while (!done()) std::this_thread::yield();
}

absl::StatusCode CodeOf(JoinHandle<> task) {
  return BlockOn(std::move(task).Outcome()).code();
}

class ThreadPerCoreRuntimeTest : public testing::TestWithParam<int> {
 protected:
  ThreadPerCoreRuntimeTest()
      : runtime_(Make(RuntimeBuilder().WorkerThreads(GetParam()))) {
    for (int i = 0; i < workers(); ++i) {
      threads_.push_back(runtime_.BlockOn(runtime_.SpawnAt(i, AskWhere)));
    }
  }

  int workers() const { return GetParam(); }

  Runtime runtime_;
  std::vector<std::thread::id> threads_;  // of the workers
};

INSTANTIATE_TEST_SUITE_P(Workers, ThreadPerCoreRuntimeTest,
                         testing::Values(1, 2, 4));

// ---- Where tasks run ----

TEST_P(ThreadPerCoreRuntimeTest, EachWorkerHasAThread) {
  EXPECT_EQ(runtime_.worker_threads(), workers());
  EXPECT_EQ(runtime_.handle().worker_threads(), workers());
  const std::set<std::thread::id> different(threads_.begin(), threads_.end());
  EXPECT_EQ(different.size(), static_cast<size_t>(workers()));
  EXPECT_FALSE(different.contains(Here()));
}

// Where it is after each of many yields, sleeps and wakes from elsewhere.
Task<std::set<std::thread::id>> Wander() {
  std::set<std::thread::id> seen;
  for (int i = 0; i < 50; ++i) {
    seen.insert(Here());
    co_await YieldNow();
    seen.insert(Here());
    if (i % 10 == 0) co_await timer::After(absl::Microseconds(100));
    seen.insert(Here());
    JoinHandle<> job = SpawnBlocking([] {});
    co_await job;
    JoinHandle<> elsewhere = Handle::Current().Spawn(YieldNow());
    co_await elsewhere;
  }
  co_return seen;
}

TEST_P(ThreadPerCoreRuntimeTest, ATaskNeverChangesItsThread) {
  std::vector<JoinHandle<std::set<std::thread::id>>> tasks;
  for (int i = 0; i < 4 * workers(); ++i) {
    tasks.push_back(runtime_.SpawnAt(i % workers(), Wander));
  }
  for (int i = 0; i < 4 * workers(); ++i) {
    EXPECT_THAT(runtime_.BlockOn(tasks[i]),
                ElementsAre(threads_[i % workers()]));
  }
}

TEST_P(ThreadPerCoreRuntimeTest, AKeyHasOneWorker) {
  const Handle handle = runtime_.handle();
  std::set<std::thread::id> used;
  for (uint64_t key = 0; key < 64; ++key) {
    const std::thread::id thread =
        runtime_.BlockOn(runtime_.SpawnByKey(key, AskWhere));
    EXPECT_EQ(runtime_.BlockOn(handle.SpawnByKey(key, AskWhere)), thread);
    used.insert(thread);
    const std::string name = "key " + std::to_string(key);
    EXPECT_EQ(runtime_.BlockOn(runtime_.SpawnByKey(name, AskWhere)),
              runtime_.BlockOn(handle.SpawnByKey(name, AskWhere)));
  }
  EXPECT_EQ(used.size(), static_cast<size_t>(workers()));
}

TEST_P(ThreadPerCoreRuntimeTest, WorkFromOutsideGoesToTheWorkersInTurn) {
  constexpr int kEach = 6;
  std::map<std::thread::id, int> ran;
  const auto count = [this, &ran](auto spawn) {
    std::vector<JoinHandle<std::thread::id>> tasks;
    for (int i = 0; i < kEach * workers(); ++i) tasks.push_back(spawn());
    for (auto& task : tasks) ++ran[runtime_.BlockOn(task)];
  };
  count([this] { return runtime_.Spawn(AskWhere); });
  count([this] { return runtime_.handle().Spawn(AskWhere); });
  {
    const EnterGuard guard = runtime_.Enter();
    count([] { return Spawn(AskWhere); });
  }
  count([this] {
    return runtime_.BlockOn(
        runtime_.SpawnBlocking([] { return Spawn(AskWhere); }));
  });
  count([this] {  // the thread in BlockOn is outside, too
    return runtime_.BlockOn([]() -> Task<JoinHandle<std::thread::id>> {
      co_return Spawn(AskWhere);
    }());
  });
  std::vector<Task<std::thread::id>> many;
  for (int i = 0; i < kEach * workers(); ++i) many.push_back(AskWhere());
  for (auto& task :
       runtime_.environment().spawner->SpawnMany(std::move(many))) {
    ++ran[runtime_.BlockOn(task)];
  }
  for (const std::thread::id thread : threads_)
    EXPECT_EQ(ran[thread], 6 * kEach);
}

TEST_P(ThreadPerCoreRuntimeTest, SpawnInsideATaskStaysOnItsThread) {
  auto parent = []() -> Task<std::vector<std::thread::id>> {
    JoinHandle<std::thread::id> plain = Spawn(AskWhere());
    JoinHandle<std::thread::id> local = SpawnLocal(AskWhere());
    JoinHandle<std::thread::id> built =
        SpawnBuilder().Local().Spawn(AskWhere());
    std::vector<std::thread::id> threads;
    threads.push_back(co_await plain);
    threads.push_back(co_await local);
    threads.push_back(co_await built);
    co_return threads;
  };
  for (int i = 0; i < workers(); ++i) {
    EXPECT_THAT(runtime_.BlockOn(runtime_.SpawnAt(i, parent)),
                Each(threads_[i]));
  }
}

// Notes where it is called, and where what it makes is destroyed.
struct Whereabouts {
  std::thread::id called;
  std::thread::id destroyed;
};
class NotesItsEnd {
 public:
  explicit NotesItsEnd(Whereabouts* where) : where_(where) {}
  NotesItsEnd(NotesItsEnd&& other) noexcept
      : where_(std::exchange(other.where_, nullptr)) {}
  ~NotesItsEnd() {
    if (where_ != nullptr) where_->destroyed = Here();
  }

 private:
  Whereabouts* where_;
};

TEST_P(ThreadPerCoreRuntimeTest, AFutureIsMadeAndDestroyedOnItsWorker) {
  auto hold = [](NotesItsEnd) -> Task<> { co_await Never().Wait(); };
  std::vector<Whereabouts> where(threads_.size());
  std::atomic<int> made{0};
  for (int i = 0; i < workers(); ++i) {
    runtime_
        .SpawnAt(i,
                 [&hold, &made, here = &where[i]] {
                   here->called = Here();
                   ++made;
                   return hold(NotesItsEnd(here));
                 })
        .Detach();
  }
  YieldUntil([&] { return made == workers(); });

  static_cast<void>(runtime_.Shutdown(absl::ZeroDuration()));

  for (int i = 0; i < workers(); ++i) {
    EXPECT_EQ(where[i].called, threads_[i]);
    EXPECT_EQ(where[i].destroyed, threads_[i]);
  }
}

// Counts without a lock.
Task<> Count(std::shared_ptr<int> count) {
  for (int i = 0; i < 10; ++i) {
    ++*count;
    co_await YieldNow();
  }
}

TEST_P(ThreadPerCoreRuntimeTest, LocalTasksShareWithoutALock) {
  auto share = []() -> Task<int> {
    auto count = std::make_shared<int>(0);
    std::vector<JoinHandle<>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(SpawnLocal(Count(count)));
    for (JoinHandle<>& task : tasks) co_await task;
    co_return *count;
  };
  std::vector<JoinHandle<int>> sums;
  for (int i = 0; i < workers(); ++i)
    sums.push_back(runtime_.SpawnAt(i, share));
  for (JoinHandle<int>& sum : sums) EXPECT_EQ(runtime_.BlockOn(sum), 1000);
}

// A round trip over loopback, with sleeps, all of it on one thread.
Task<std::string> Echo() {
  const std::thread::id home = Here();
  auto listener = net::TcpListener::Bind(net::SocketAddress::Ipv4Loopback(0));
  if (!listener.ok()) co_return listener.status().ToString();
  auto serve = [](net::TcpListener* listener) -> Task<absl::Status> {
    absl::StatusOr<net::TcpStream> stream = co_await listener->Accept();
    if (!stream.ok()) co_return stream.status();
    std::array<char, 16> buffer;
    absl::StatusOr<size_t> n = co_await io::Read(*stream, buffer);
    if (!n.ok()) co_return n.status();
    co_await timer::After(absl::Milliseconds(1));
    const std::string_view got(buffer.data(), *n);
    co_return co_await io::WriteAll(*stream, got);
  };
  JoinHandle<absl::Status> server = SpawnBorrowing(serve(&*listener));
  absl::StatusOr<net::TcpStream> client =
      co_await net::TcpStream::Connect(listener->local_address());
  if (!client.ok()) co_return client.status().ToString();
  co_await timer::After(absl::Milliseconds(1));
  static_cast<void>(co_await io::WriteAll(*client, "hello"sv));
  std::array<char, 16> buffer;
  absl::StatusOr<size_t> n = co_await io::Read(*client, buffer);
  if (!n.ok()) co_return n.status().ToString();
  const absl::Status served = co_await server;
  if (!served.ok()) co_return served.ToString();
  co_return Here() == home ? std::string(buffer.data(), *n) : "moved";
}

TEST_P(ThreadPerCoreRuntimeTest, EachWorkerHasSocketsAndTimers) {
  std::vector<JoinHandle<std::string>> echoes;
  for (int i = 0; i < 3 * workers(); ++i) {
    echoes.push_back(runtime_.SpawnAt(i % workers(), Echo));
  }
  for (auto& echo : echoes) EXPECT_EQ(runtime_.BlockOn(echo), "hello");

  std::set<const void*> drivers;
  for (int i = 0; i < workers(); ++i) {
    auto ask = []() -> Task<std::array<const void*, 2>> {
      const Environment& environment = Environment::Current();
      co_return std::array<const void*, 2>{environment.reactor,
                                           environment.timers};
    };
    for (const void* driver : runtime_.BlockOn(runtime_.SpawnAt(i, ask))) {
      EXPECT_NE(driver, nullptr);
      drivers.insert(driver);
    }
  }
  EXPECT_EQ(drivers.size(), 2 * threads_.size());
}

TEST_P(ThreadPerCoreRuntimeTest, ASpawnerOverItHasItsTasksRunOnAllWorkers) {
  Spawner& below = *runtime_.environment().spawner;
  const Strand strand(below);
  const ConcurrencyLimit limit(below, 2 * workers());
  int count = 0;
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(strand.Spawn([&count]() -> Task<> {
      ++count;
      co_await YieldNow();
      ++count;
    }));
    tasks.push_back(limit.Spawn([]() -> Task<> { co_await YieldNow(); }));
  }
  for (JoinHandle<>& task : tasks) runtime_.BlockOn(task);
  EXPECT_EQ(count, 200);
}

// ---- Its end ----

TEST_P(ThreadPerCoreRuntimeTest, ShutdownCountsWhatItDropsOnEachWorker) {
  LiveCounter counter;
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 5 * workers(); ++i) {
    tasks.push_back(
        runtime_.Spawn([object = counter.Make()] { return Hold(object); }));
  }

  const ShutdownReport report = runtime_.Shutdown(absl::Milliseconds(1));

  EXPECT_EQ(report.tasks_dropped, static_cast<size_t>(5 * workers()));
  EXPECT_EQ(report.workers_running, 0u);
  for (JoinHandle<>& task : tasks) {
    EXPECT_EQ(CodeOf(std::move(task)), absl::StatusCode::kCancelled);
  }
  EXPECT_EQ(counter.live(), 0);
}

// A chain of tasks and jobs of which only one is alive at a time.
void Hop(Handle handle, int left, std::atomic<int>* hops) {
  ++*hops;
  if (left == 0) return;
  if (left % 5 == 0) {
    handle.SpawnBlocking([=] { Hop(handle, left - 1, hops); }).Detach();
    return;
  }
  auto hop = [=]() -> Task<> {
    Hop(handle, left - 1, hops);
    co_return;
  };
  handle.SpawnAt(left % handle.worker_threads(), hop).Detach();
}

TEST_P(ThreadPerCoreRuntimeTest, ShutdownLetsWorkFinishThatWandersAbout) {
  constexpr int kHops = 400;
  std::atomic<int> hops{0};
  for (int i = 0; i < 3; ++i) Hop(runtime_.handle(), kHops, &hops);

  const ShutdownReport report = runtime_.Shutdown(absl::Seconds(60));

  EXPECT_EQ(hops, 3 * (kHops + 1));
  EXPECT_EQ(report.tasks_dropped, 0u);
  EXPECT_EQ(report.jobs_dropped, 0u);
}

TEST_P(ThreadPerCoreRuntimeTest, ItEndsWhileTasksAwaitThoseOfOtherWorkers) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> asked{0};  // outlives the tasks
    Runtime runtime = Make(RuntimeBuilder().WorkerThreads(workers()));
    for (int i = 0; i < 10; ++i) {
      runtime
          .Spawn([handle = runtime.handle(), &asked]() -> Task<> {
            for (;;) {
              JoinHandle<> answer = handle.Spawn(YieldNow());
              co_await answer;
              ++asked;
            }
          })
          .Detach();
    }
    YieldUntil([&] { return asked >= 20; });
  }
}

TEST_P(ThreadPerCoreRuntimeTest, WhatIsSpawnedMeanwhileEndsOneWay) {
  LiveCounter counter;
  std::atomic<bool> over{false};
  std::atomic<int> spawned{0};
  std::vector<JoinHandle<>> tasks;
  std::thread other([&, handle = runtime_.handle()] {
    while (!over || spawned < 100) {
      auto work = [](LiveCounter::Object) -> Task<> { co_await YieldNow(); };
      const int at = spawned % handle.worker_threads();
      tasks.push_back(handle.SpawnAt(
          at, [work, object = counter.Make()] { return work(object); }));
      ++spawned;
      std::this_thread::yield();
    }
  });
  YieldUntil([&] { return spawned >= 50; });
  static_cast<void>(runtime_.Shutdown(absl::ZeroDuration()));
  over = true;
  other.join();

  for (JoinHandle<>& task : tasks) {
    EXPECT_TRUE(task.IsFinished());
    EXPECT_THAT(
        CodeOf(std::move(task)),
        testing::AnyOf(absl::StatusCode::kOk, absl::StatusCode::kCancelled));
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST_P(ThreadPerCoreRuntimeTest, ItMayBeDestroyedByItsOwnTask) {
  LiveCounter counter;
  sync::Event destroyed;
  auto runtime = std::make_unique<Runtime>(
      Make(RuntimeBuilder().WorkerThreads(workers())));
  const Handle handle = runtime->handle();
  for (int i = 0; i < workers(); ++i) {
    handle.SpawnAt(i, [object = counter.Make()] { return Hold(object); })
        .Detach();
  }
  handle
      .Spawn([runtime = std::move(runtime), &destroyed]() mutable -> Task<> {
        runtime.reset();
        destroyed.Set();
        co_return;
      })
      .Detach();
  BlockOn(destroyed.Wait());
  YieldUntil([&] { return counter.live() == 0; });
}

TEST_P(ThreadPerCoreRuntimeTest, ShutdownBackgroundWaitsForNoPoll) {
  LiveCounter counter;
  std::atomic<bool> release{false};
  std::atomic<int> inside{0};
  for (int i = 0; i < workers(); ++i) {
    runtime_
        .SpawnAt(i,
                 [&]() -> Task<> {
                   ++inside;
                   while (!release) std::this_thread::yield();
                   --inside;
                   co_return;
                 })
        .Detach();
  }
  YieldUntil([&] { return inside == workers(); });
  for (int i = 0; i < workers(); ++i) {
    runtime_.SpawnAt(i, [object = counter.Make()] { return Hold(object); })
        .Detach();
  }

  runtime_.ShutdownBackground();

  EXPECT_EQ(inside, workers());
  EXPECT_EQ(counter.live(), workers());
  release = true;
  YieldUntil([&] { return counter.live() == 0; });
}

TEST_P(ThreadPerCoreRuntimeTest, HandlesAndTasksOutliveIt) {
  LiveCounter counter;
  std::optional<Handle> handle;
  std::vector<JoinHandle<>> tasks;
  {
    Runtime runtime = Make(RuntimeBuilder().WorkerThreads(workers()));
    handle.emplace(runtime.handle());
    for (int i = 0; i < workers(); ++i) {
      tasks.push_back(runtime.SpawnAt(
          i, [object = counter.Make()] { return Hold(object); }));
    }
  }
  for (int i = 0; i < workers(); ++i) {
    tasks.push_back(
        handle->SpawnAt(i, [object = counter.Make()] { return Hold(object); }));
  }
  tasks.push_back(handle->Spawn(Hold(counter.Make())));
  EXPECT_EQ(counter.live(), 0);
  for (JoinHandle<>& task : tasks) EXPECT_TRUE(task.IsFinished());
  EXPECT_EQ(handle->worker_threads(), workers());
}

// ---- Hooks ----

// How many LivesHere there are on this thread.
thread_local int live_here = 0;
struct LivesHere {
  LivesHere() { ++live_here; }
  LivesHere(const LivesHere&) = delete;
  ~LivesHere() { --live_here; }
};

TEST_P(ThreadPerCoreRuntimeTest, HooksRunOnEachWorkerAroundItsTasks) {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  std::atomic<int> parked{0};
  std::atomic<int> unparked{0};
  {
    Runtime runtime =
        Make(RuntimeBuilder()
                 .WorkerThreads(workers())
                 .OnThreadStart([&] {
                   // All workers can be reached, and this is one of them.
                   auto stays = [home = Here()]() -> Task<> {
                     EXPECT_EQ(Here(), home);
                     co_return;
                   };
                   Spawn(stays).Detach();
                   SpawnLocal(stays).Detach();
                   const Handle handle = Handle::Current();
                   for (int i = 0; i < handle.worker_threads(); ++i) {
                     handle
                         .SpawnAt(i,
                                  [&started]() -> Task<> {
                                    ++started;
                                    co_return;
                                  })
                         .Detach();
                   }
                 })
                 .OnThreadStop([&] {
                   ++stopped;
                   EXPECT_EQ(live_here, 0);
                 })
                 .OnThreadPark([&] { ++parked; })
                 .OnThreadUnpark([&] { ++unparked; }));
    YieldUntil([&] { return started == workers() * workers(); });
    std::atomic<int> held{0};
    for (int i = 0; i < workers(); ++i) {
      runtime
          .SpawnAt(i,
                   [&held]() -> Task<> {
                     const LivesHere lives;
                     ++held;
                     co_await Never().Wait();
                   })
          .Detach();
    }
    YieldUntil([&] { return held == workers(); });
    YieldUntil([&] { return parked >= workers(); });
  }
  EXPECT_EQ(stopped, workers());
  EXPECT_EQ(parked, unparked);
}

// ---- What is refused ----

TEST(ThreadPerCoreBuilderTest, SaysWhyItCannotBeBuilt) {
  RuntimeBuilder builder;
  builder.ThreadPerCore();
  EXPECT_EQ(
      RuntimeBuilder(builder).WorkerThreads(1 << 30).Build().status().code(),
      absl::StatusCode::kInvalidArgument);
  const absl::Status both =
      RuntimeBuilder(builder).CurrentThread().Build().status();
  EXPECT_EQ(both.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(both.message()),
              HasSubstr("CurrentThread() and ThreadPerCore() exclude"));
  const absl::Status pinned =
      RuntimeBuilder().CurrentThread().PinThreads().Build().status();
  EXPECT_EQ(pinned.code(), absl::StatusCode::kInvalidArgument);

  const absl::Status stack = RuntimeBuilder(builder)
                                 .WorkerThreads(2)
                                 .ThreadStackSize(size_t{1} << 60)
                                 .Build()
                                 .status();
  EXPECT_THAT(std::string(stack.message()), HasSubstr("weft-worker-0"));
}

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&   \
    !HAS_FEATURE(address_sanitizer) && !HAS_FEATURE(thread_sanitizer) && \
    !HAS_FEATURE(memory_sanitizer)
size_t CountThreads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

// Room for three stacks more than the process has now; a sanitizer needs it.
void LeaveRoomForThreeStacks(size_t stack) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur =
      pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + stack * 7 / 2;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

TEST(ThreadPerCoreBuilderDeathTest, AWorkerThatDoesNotStartEndsTheOthers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        constexpr size_t kStack = size_t{1} << 30;
        LeaveRoomForThreeStacks(kStack);
        const size_t before = CountThreads();
        const absl::Status status = RuntimeBuilder()
                                        .ThreadPerCore()
                                        .WorkerThreads(16)
                                        .ThreadStackSize(kStack)
                                        .Build()
                                        .status();
        YieldUntil([before] { return CountThreads() <= before; });
        std::fprintf(stderr, "%s", status.ToString().c_str());
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "weft-worker-[1-9]");
}
#endif

TEST(ThreadPerCoreRuntimeDeathTest, NamesWhatIsWrong) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Runtime runtime = Make(RuntimeBuilder().WorkerThreads(2));
  EXPECT_DEATH(runtime.SpawnAt(2, AskWhere).Detach(), "no such worker");
  EXPECT_DEATH(runtime.handle().SpawnAt(-1, AskWhere).Detach(),
               "no such worker");
  const EnterGuard guard = runtime.Enter();
  EXPECT_DEATH(SpawnLocal(AskWhere).Detach(), "ThreadPerCore\\(\\)");
  auto blocks = []() -> Task<> {
    BlockOn(YieldNow());
    co_return;
  };
  EXPECT_DEATH(runtime.BlockOn(runtime.Spawn(blocks)), "was called by a task");
  auto blocks_in_place = []() -> Task<> {
    BlockInPlace([] {});
    co_return;
  };
  EXPECT_DEATH(runtime.BlockOn(runtime.Spawn(blocks_in_place)),
               "use SpawnBlocking\\(\\)");
}

TEST(PlacementDeathTest, TasksThatMoveAreNotPlaced) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Runtime runtime = *RuntimeBuilder().WorkerThreads(2).Build();
  EXPECT_DEATH(runtime.SpawnAt(0, AskWhere).Detach(), "ThreadPerCore\\(\\)");
  EXPECT_DEATH(runtime.SpawnByKey("key", AskWhere).Detach(),
               "ThreadPerCore\\(\\)");
}

TEST(PlacementTest, ACurrentThreadRuntimeHasOneWorker) {
  Runtime runtime = *RuntimeBuilder().CurrentThread().Build();
  EXPECT_EQ(runtime.worker_threads(), 1);
  EXPECT_EQ(runtime.BlockOn(runtime.SpawnAt(0, AskWhere)), Here());
  EXPECT_EQ(runtime.BlockOn(runtime.SpawnByKey(uint64_t{7}, AskWhere)), Here());
}

// ---- Pinning ----

class PinThreadsTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(ThreadPerCore, PinThreadsTest, testing::Bool());

TEST_P(PinThreadsTest, WorkersHaveOneProcessorAndJobsAll) {
  const std::vector<int> all = AllowedCpus();
  const int workers = static_cast<int>(all.size()) + 1;
  std::atomic<int> index{0};
  std::vector<std::vector<int>> cpus(static_cast<size_t>(workers));
  RuntimeBuilder builder;
  builder.WorkerThreads(workers).PinThreads().OnThreadStart(
      [&] { cpus[static_cast<size_t>(index++)] = AllowedCpus(); });
  if (GetParam()) builder.ThreadPerCore();
  Runtime runtime = *builder.Build();
  YieldUntil([&] { return index == workers; });
  auto ask = []() -> Task<std::vector<int>> {
    JoinHandle<std::vector<int>> job = SpawnBlocking(AllowedCpus);
    co_return co_await job;
  };
  EXPECT_EQ(runtime.BlockOn(runtime.Spawn(ask)), all);
  static_cast<void>(runtime.Shutdown(absl::Seconds(60)));

  std::vector<std::vector<int>> expected;
  for (int i = 0; i < workers; ++i) {
    expected.push_back({all[static_cast<size_t>(i) % all.size()]});
  }
  EXPECT_THAT(cpus, testing::UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace weft
