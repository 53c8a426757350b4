// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a queue costs without any runtime: threads with moodycamel's queue between
// them, which yield to others while there is nothing to do. The limit of what
// channels can be.

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "concurrentqueue.h"
#include "weft/bench/harness.h"
#include "weft/task/check.h"

namespace weft::bench {
namespace {

using Job = absl::FunctionRef<void(size_t thread)>;

// Threads that do one job after another together.
class Crew {
 public:
  explicit Crew(size_t threads)
      : begin_(static_cast<std::ptrdiff_t>(threads) + 1),
        end_(static_cast<std::ptrdiff_t>(threads) + 1) {
    for (size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i] { Work(i); });
    }
  }
  ~Crew() {
    job_ = nullptr;
    begin_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  // Calls job(i) on thread i, for each, and waits until all have returned.
  void Run(Job job) {
    job_ = &job;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
  }

 private:
  void Work(size_t i) {
    for (;;) {
      begin_.arrive_and_wait();
      if (job_ == nullptr) return;
      (*job_)(i);
      end_.arrive_and_wait();
    }
  }

  std::barrier<> begin_;
  std::barrier<> end_;
  // Written while all threads wait; null: no more.
  const Job* job_ = nullptr;
  std::vector<std::thread> threads_;
};

template <size_t kBytes>
using Message = std::array<uint64_t, kBytes / sizeof(uint64_t)>;

template <class T>
using Queue = moodycamel::ConcurrentQueue<T>;

template <class T>
struct Channel {
  Channel(size_t places, size_t senders)
      : capacity(places), open(senders), queue(places, senders, 0) {}

  // 0 is none. The queue itself has no limit: senders look how full it is.
  const size_t capacity;
  std::atomic<size_t> open;  // senders that are not done
  std::atomic<uint64_t> sum{0};
  Queue<T> queue;
};

template <class T>
void SendSome(Channel<T>& channel, size_t count) {
  const moodycamel::ProducerToken token(channel.queue);
  for (size_t i = 0; i < count; ++i) {
    T message{};
    message[0] = i + 1;
    while (channel.capacity != 0 &&
           channel.queue.size_approx() >= channel.capacity) {
      std::this_thread::yield();
    }
    channel.queue.enqueue(token, message);
  }
  channel.open.fetch_sub(1);
}

template <class T>
void ReceiveAll(Channel<T>& channel) {
  moodycamel::ConsumerToken token(channel.queue);
  uint64_t sum = 0;
  T message;
  for (;;) {
    // Before the look: nothing comes after the last sender's last message.
    const bool closed = channel.open.load() == 0;
    if (channel.queue.try_dequeue(token, message)) {
      sum += message[0];
    } else if (closed) {
      break;
    } else {
      std::this_thread::yield();
    }
  }
  channel.sum.fetch_add(sum);
}

template <size_t kSenders, size_t kReceivers, size_t kCapacity, size_t kBytes>
void Channels(Bench& bench) {
  Crew crew(kSenders + kReceivers);
  const size_t each = bench.size() / kSenders;
  bench.Measure(bench.size(), [&] {
    Channel<Message<kBytes>> channel(kCapacity, kSenders);
    crew.Run([&](size_t thread) {
      if (thread < kSenders) {
        SendSome(channel, each);
      } else {
        ReceiveAll(channel);
      }
    });
    WEFT_CHECK(channel.sum.load() == kSenders * each * (each + 1) / 2,
               "messages are lost");
  });
}

void Uncontended(Bench& bench) {
  bench.Measure(bench.size(), [&] {
    Queue<uint64_t> queue(64);
    const moodycamel::ProducerToken token(queue);
    for (size_t i = 0; i < bench.size(); ++i) {
      uint64_t message = 0;
      WEFT_CHECK(queue.enqueue(token, i) &&
                     queue.try_dequeue_from_producer(token, message) &&
                     message == i,
                 "a wrong message");
    }
  });
}

uint64_t Receive(Queue<uint64_t>& queue) {
  uint64_t message = 0;
  while (!queue.try_dequeue(message)) std::this_thread::yield();
  return message;
}

void PingPong(Bench& bench) {
  Crew crew(2);
  Queue<uint64_t> there;
  Queue<uint64_t> back;
  bench.Measure(bench.size(), [&] {
    crew.Run([&](size_t thread) {
      for (size_t i = 0; i < bench.size(); ++i) {
        if (thread == 0) there.enqueue(i);
        const uint64_t message = Receive(thread == 0 ? back : there);
        if (thread == 1) back.enqueue(message);
        WEFT_CHECK(message == i, "a wrong message");
      }
    });
  });
}

template <size_t kCapacity>
void Create(Bench& bench) {
  bench.Measure(bench.size(), [&] {
    for (size_t i = 0; i < bench.size(); ++i) {
      const Queue<uint64_t> queue(kCapacity, 1, 0);
      WEFT_CHECK(queue.size_approx() == 0, "a new queue is not empty");
    }
  });
}

constexpr Case kCases[] = {
    {"channel_1x1_64_8", Channels<1, 1, 64, 8>},
    {"channel_1x1_u_8", Channels<1, 1, 0, 8>},
    {"channel_4x1_64_8", Channels<4, 1, 64, 8>},
    {"channel_4x1_u_8", Channels<4, 1, 0, 8>},
    {"channel_1x4_64_8", Channels<1, 4, 64, 8>},
    {"channel_1x4_u_8", Channels<1, 4, 0, 8>},
    {"channel_4x4_64_8", Channels<4, 4, 64, 8>},
    {"channel_4x4_u_8", Channels<4, 4, 0, 8>},
    {"channel_1x1_64_512", Channels<1, 1, 64, 512>},
    {"channel_1x1_u_512", Channels<1, 1, 0, 512>},
    {"channel_4x1_64_512", Channels<4, 1, 64, 512>},
    {"channel_4x1_u_512", Channels<4, 1, 0, 512>},
    {"channel_1x4_64_512", Channels<1, 4, 64, 512>},
    {"channel_1x4_u_512", Channels<1, 4, 0, 512>},
    {"channel_4x4_64_512", Channels<4, 4, 64, 512>},
    {"channel_4x4_u_512", Channels<4, 4, 0, 512>},
    {"channel_uncontended", Uncontended},
    {"channel_ping_pong", PingPong},
    {"channel_create_64", Create<64>},
    {"channel_create_u", Create<0>},
};

constexpr Unsupported kUnsupported[] = {
    {"channel_1x1_1_", "its limit would be too inexact"},
    {"channel_4x1_1_", "its limit would be too inexact"},
    {"channel_1x4_1_", "its limit would be too inexact"},
    {"channel_4x4_1_", "its limit would be too inexact"},
    {"", "a queue, nothing else"},
};

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  return weft::bench::RunCase(std::span(argv, argc).subspan(1),
                              weft::bench::kCases, weft::bench::kUnsupported);
}
