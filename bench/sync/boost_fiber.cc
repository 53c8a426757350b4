// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of the benchmark of sync that Boost.Fiber can run: fibers on as many
// threads as there are workers, which steal them from each other.

#include <span>

#include "weft/bench/harness.h"

#if __has_include(<boost/fiber/all.hpp>)

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/fiber/all.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/task/check.h"

namespace weft::bench {
namespace {

namespace fibers = boost::fibers;
using Status = fibers::channel_op_status;

template <class T>
using Channel = fibers::buffered_channel<T>;
template <size_t kBytes>
using Message = std::array<uint64_t, kBytes / sizeof(uint64_t)>;

// The threads that run fibers, the calling one among them.
class Crew {
 public:
  explicit Crew(const Bench& bench)
      : workers_(static_cast<uint32_t>(bench.workers())) {
    for (uint32_t i = 1; i < workers_; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
    Enlist();
  }
  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Enlist() const {
    if (workers_ == 1) return;
    fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers_);
  }
  void Work() {
    Enlist();
    std::unique_lock lock(mutex_);
    while (!done_) changed_.wait(lock);
  }

  const uint32_t workers_;
  fibers::mutex mutex_;
  fibers::condition_variable changed_;
  bool done_ = false;
  std::vector<std::thread> threads_;
};

// Runs `count` fibers that call run() and waits for them.
template <class Run>
void InFibers(size_t count, Run run) {
  std::vector<fibers::fiber> all;
  for (size_t i = 0; i < count; ++i) all.emplace_back(run);
  for (fibers::fiber& fiber : all) fiber.join();
}

// Measures a fiber that calls run().
template <class Run>
void MeasureFiber(Bench& bench, size_t ops, Run run) {
  bench.Measure(ops, [&] { fibers::fiber(run).join(); });
}

// A channel of so many places has room for one message less, and the number is a
// power of two.
constexpr size_t PlacesFor(size_t capacity) {
  return std::bit_ceil(capacity + 1);
}

template <class T>
void SendSome(Channel<T>& channel, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T message{};
    message[0] = i + 1;
    WEFT_CHECK(channel.push(message) == Status::success,
               "a channel closed too early");
  }
}

template <class T>
uint64_t ReceiveAll(Channel<T>& channel) {
  uint64_t sum = 0;
  T message;
  while (channel.pop(message) == Status::success) sum += message[0];
  return sum;
}

template <class T>
void SendAndReceive(size_t senders, size_t receivers, size_t capacity,
                    size_t each) {
  Channel<T> channel(PlacesFor(capacity));
  std::atomic<uint64_t> sum = 0;
  fibers::fiber receiving([&] {
    InFibers(receivers, [&] { sum.fetch_add(ReceiveAll(channel)); });
  });
  InFibers(senders, [&] { SendSome(channel, each); });
  channel.close();
  receiving.join();
  WEFT_CHECK(sum.load() == senders * each * (each + 1) / 2,
             "messages are lost");
}

template <size_t kSenders, size_t kReceivers, size_t kCapacity, size_t kBytes>
void Channels(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    SendAndReceive<Message<kBytes>>(kSenders, kReceivers, kCapacity,
                                    bench.size() / kSenders);
  });
}

void Uncontended(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    Channel<uint64_t> channel(PlacesFor(64));
    for (size_t i = 0; i < bench.size(); ++i) {
      channel.push(i);
      WEFT_CHECK(channel.value_pop() == i, "a wrong message");
    }
  });
}

void PassOn(Channel<uint64_t>& from, Channel<uint64_t>& to) {
  uint64_t message = 0;
  while (from.pop(message) == Status::success) to.push(message);
}

void PingPong(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    Channel<uint64_t> there(PlacesFor(1));
    Channel<uint64_t> back(PlacesFor(1));
    fibers::fiber echo([&] { PassOn(there, back); });
    for (size_t i = 0; i < bench.size(); ++i) {
      there.push(i);
      WEFT_CHECK(back.value_pop() == i, "a wrong message");
    }
    there.close();
    echo.join();
  });
}

// `length` messages, one at a time, through as many fibers.
void SendThrough(size_t length) {
  std::vector<std::unique_ptr<Channel<uint64_t>>> channels;
  for (size_t i = 0; i <= length; ++i) {
    channels.push_back(std::make_unique<Channel<uint64_t>>(PlacesFor(1)));
  }
  std::vector<fibers::fiber> passing;
  for (size_t i = 0; i < length; ++i) {
    passing.emplace_back([&, i] { PassOn(*channels[i], *channels[i + 1]); });
  }
  for (size_t i = 0; i < length; ++i) {
    channels.front()->push(i);
    WEFT_CHECK(channels.back()->value_pop() == i, "a wrong message");
  }
  for (const auto& channel : channels) channel->close();
  for (fibers::fiber& fiber : passing) fiber.join();
}

void Chain(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size() * bench.size(),
               [&] { SendThrough(bench.size()); });
}

template <class T, size_t kCapacity>
void Create(Bench& bench) {
  bench.Measure(bench.size(), [&] {
    for (size_t i = 0; i < bench.size(); ++i) {
      const Channel<T> channel(PlacesFor(kCapacity));
      WEFT_CHECK(!channel.is_closed(), "a new channel is closed");
    }
  });
}

// What a channel costs in memory, without the object itself.
void Bytes(Bench& bench) {
  std::vector<std::unique_ptr<Channel<uint64_t>>> channels;
  channels.reserve(bench.size());
  const int64_t before = ReadStatus("VmRSS");
  for (size_t i = 0; i < bench.size(); ++i) {
    channels.push_back(std::make_unique<Channel<uint64_t>>(PlacesFor(16)));
  }
  const double kib = static_cast<double>(ReadStatus("VmRSS") - before);
  bench.Record("bytes", kib * 1024 / static_cast<double>(bench.size()));
}

template <size_t kBytes>
void MakeSendReceive(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    auto message = std::make_unique<Message<kBytes>>();
    for (size_t i = 0; i < bench.size(); ++i) {
      Channel<Message<kBytes>> channel(PlacesFor(1000));
      channel.push(*message);
      WEFT_CHECK(channel.pop(*message) == Status::success, "it is lost");
    }
  });
}

void ReceiveSome(Channel<Message<8>>& channel, size_t count) {
  Message<8> message;
  for (size_t i = 0; i < count; ++i) channel.pop(message);
}

template <size_t kCapacity>
void Contention(Bench& bench) {
  constexpr size_t kSenders = 5;
  const Crew crew(bench);
  const size_t each = bench.size() / kSenders;
  MeasureFiber(bench, kSenders * each, [&] {
    Channel<Message<8>> channel(PlacesFor(kCapacity));
    fibers::fiber sending(
        [&] { InFibers(kSenders, [&] { SendSome(channel, each); }); });
    ReceiveSome(channel, kSenders * each);
    sending.join();
  });
}

void SendThenReceive(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    Channel<Message<8>> channel(PlacesFor(1'000'000));
    SendSome(channel, bench.size());
    ReceiveSome(channel, bench.size());
  });
}

void Oneshots(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    for (size_t i = 0; i < bench.size(); ++i) {
      fibers::promise<uint64_t> sender;
      fibers::future<uint64_t> receiver = sender.get_future();
      sender.set_value(i);
      WEFT_CHECK(receiver.get() == i, "a wrong value");
    }
  });
}

using Request = fibers::promise<uint64_t>;

void Reply(Channel<Request>& requests) {
  Request request;
  for (uint64_t i = 0; requests.pop(request) == Status::success; ++i) {
    request.set_value(i);
  }
}

void RequestReply(Bench& bench) {
  const Crew crew(bench);
  MeasureFiber(bench, bench.size(), [&] {
    Channel<Request> requests(PlacesFor(10));
    fibers::fiber replying([&] { Reply(requests); });
    for (size_t i = 0; i < bench.size(); ++i) {
      Request request;
      fibers::future<uint64_t> reply = request.get_future();
      requests.push(std::move(request));
      WEFT_CHECK(reply.get() == i, "a wrong reply");
    }
    requests.close();
    replying.join();
  });
}

template <size_t kFibers>
void Mutexes(Bench& bench) {
  const Crew crew(bench);
  fibers::mutex mutex;
  uint64_t sum = 0;
  MeasureFiber(bench, bench.size(), [&] {
    InFibers(kFibers, [&] {
      for (size_t i = 0; i < bench.size() / kFibers; ++i) {
        const std::lock_guard lock(mutex);
        ++sum;
      }
    });
  });
  WEFT_CHECK(sum % (bench.size() / kFibers * kFibers) == 0, "two were in");
}

// A condition that fibers wait for, and how many there were.
struct Wakes {
  void Wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock);
  }

  fibers::mutex mutex;
  fibers::condition_variable changed;
  std::atomic<size_t> count{0};
  std::atomic<bool> stop{false};
};

using NotifySome = void (fibers::condition_variable::*)() noexcept;

template <NotifySome kNotify>
void NotifyUntil(Wakes& wakes, size_t count) {
  wakes.count.store(0);
  while (wakes.count.load() < count) {
    (wakes.changed.*kNotify)();
    boost::this_fiber::yield();
  }
}

template <size_t kWaiters, NotifySome kNotify>
void Notifications(Bench& bench) {
  const Crew crew(bench);
  Wakes wakes;
  std::atomic<size_t> left = kWaiters;
  fibers::fiber waiting([&] {
    InFibers(kWaiters, [&] {
      while (!wakes.stop.load()) {
        wakes.Wait();
        wakes.count.fetch_add(1);
      }
      left.fetch_sub(1);
    });
  });
  MeasureFiber(bench, bench.size(),
               [&] { NotifyUntil<kNotify>(wakes, bench.size()); });
  wakes.stop.store(true);
  while (left.load() > 0) {
    wakes.changed.notify_all();
    boost::this_fiber::yield();
  }
  waiting.join();
}

template <size_t kWaiters>
constexpr auto kOne =
    Notifications<kWaiters, &fibers::condition_variable::notify_one>;
template <size_t kWaiters>
constexpr auto kAll =
    Notifications<kWaiters, &fibers::condition_variable::notify_all>;

// Gates: shut when made, by the fiber that opens them.
struct MutexGate {
  MutexGate() { mutex.lock(); }
  void Pass() {
    const std::lock_guard lock(mutex);
    ++sum;
  }
  void Open() { mutex.unlock(); }

  fibers::mutex mutex;
  uint64_t sum = 0;
};

struct EventGate {
  void Pass() {
    std::unique_lock lock(mutex);
    while (!open) opened.wait(lock);
  }
  void Open() {
    const std::lock_guard lock(mutex);
    open = true;
    opened.notify_all();
  }

  fibers::mutex mutex;
  fibers::condition_variable opened;
  bool open = false;
};

template <class Gate>
void GatherAndRelease(size_t waiters) {
  Gate gate;
  std::atomic<size_t> arrived = 0;
  std::vector<fibers::fiber> all;
  for (size_t i = 0; i < waiters; ++i) {
    all.emplace_back([&] {
      arrived.fetch_add(1);
      gate.Pass();
    });
  }
  while (arrived.load() < waiters) boost::this_fiber::yield();
  gate.Open();
  for (fibers::fiber& fiber : all) fiber.join();
}

template <class Gate>
void Waiters(Bench& bench) {
  constexpr size_t kWaiters = 1000;
  const Crew crew(bench);
  const size_t rounds = std::max<size_t>(1, bench.size() / kWaiters);
  MeasureFiber(bench, rounds * kWaiters, [&] {
    for (size_t i = 0; i < rounds; ++i) GatherAndRelease<Gate>(kWaiters);
  });
}

constexpr Case kCases[] = {
    {"channel_1x1_1_8", Channels<1, 1, 1, 8>},
    {"channel_1x1_64_8", Channels<1, 1, 64, 8>},
    {"channel_4x1_1_8", Channels<4, 1, 1, 8>},
    {"channel_4x1_64_8", Channels<4, 1, 64, 8>},
    {"channel_1x4_1_8", Channels<1, 4, 1, 8>},
    {"channel_1x4_64_8", Channels<1, 4, 64, 8>},
    {"channel_4x4_1_8", Channels<4, 4, 1, 8>},
    {"channel_4x4_64_8", Channels<4, 4, 64, 8>},
    {"channel_1x1_1_512", Channels<1, 1, 1, 512>},
    {"channel_1x1_64_512", Channels<1, 1, 64, 512>},
    {"channel_4x1_1_512", Channels<4, 1, 1, 512>},
    {"channel_4x1_64_512", Channels<4, 1, 64, 512>},
    {"channel_1x4_1_512", Channels<1, 4, 1, 512>},
    {"channel_1x4_64_512", Channels<1, 4, 64, 512>},
    {"channel_4x4_1_512", Channels<4, 4, 1, 512>},
    {"channel_4x4_64_512", Channels<4, 4, 64, 512>},
    {"channel_uncontended", Uncontended},
    {"channel_ping_pong", PingPong},
    {"channel_chain", Chain},
    {"channel_create_64", Create<uint64_t, 64>},
    {"channel_bytes_16", Bytes},
    {"mpsc_create_1", Create<Message<512>, 1>},
    {"mpsc_create_100", Create<Message<512>, 100>},
    {"mpsc_create_100000", Create<Message<512>, 100'000>},
    {"mpsc_send_512", MakeSendReceive<512>},
    {"mpsc_send_32768", MakeSendReceive<32'768>},
    {"mpsc_contention_bounded", Contention<1'000'000>},
    {"mpsc_contention_full", Contention<100>},
    {"mpsc_uncontended_bounded", SendThenReceive},
    {"oneshot", Oneshots},
    {"request_reply", RequestReply},
    {"notify_one_10", kOne<10>},
    {"notify_one_100", kOne<100>},
    {"notify_one_500", kOne<500>},
    {"notify_all_10", kAll<10>},
    {"notify_all_100", kAll<100>},
    {"notify_all_500", kAll<500>},
    {"mutex_1", Mutexes<1>},
    {"mutex_2", Mutexes<2>},
    {"mutex_4", Mutexes<4>},
    {"waiters_1000_mutex", Waiters<MutexGate>},
    {"waiters_1000_event", Waiters<EventGate>},
};

constexpr Unsupported kUnsupported[] = {
    {"channel", "each channel has a capacity"},
    {"mpsc_contention_unbounded", "each channel has a capacity"},
    {"mpsc_uncontended_unbounded", "each channel has a capacity"},
    {"mpsc", "receives one message at a time"},
    {"", "has nothing like it"},
};

}  // namespace
}  // namespace weft::bench

#else

namespace weft::bench {
namespace {

constexpr std::span<const Case> kCases;
constexpr Unsupported kUnsupported[] = {
    {"", "Boost.Fiber is not installed (libboost-fiber1.81-dev)"}};

}  // namespace
}  // namespace weft::bench

#endif

int main(int argc, char** argv) {
  return weft::bench::RunCase(std::span(argv, argc).subspan(1),
                              weft::bench::kCases, weft::bench::kUnsupported);
}
