// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The word is kEmpty, kParked or kNotified.
//   Park:   kNotified -> kEmpty and return; else kEmpty -> kParked, sleep while
//           kParked, then swap in kEmpty.
//   Unpark: swap in kNotified; wake the sleeper if the old value was kParked.
// A swap that reads kNotified acquires what the unparking thread did before. An
// Unpark is never lost: whichever of the two swaps comes second sees the other.
#include "weft/task/parker.h"

#include <errno.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/task/driver.h"
#include "weft/task/futex.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

constexpr uint32_t kEmpty = 0;
constexpr uint32_t kParked = 1;
constexpr uint32_t kNotified = 2;

}  // namespace

struct Parker::Core {
  std::atomic<uint32_t> word{kEmpty};
  std::atomic<uint32_t> references{1};

  void Unpark() {
    // Release: publishes what happened before the unpark.
    if (word.exchange(kNotified, std::memory_order_release) == kParked) {
      task_internal::FutexWake(word);
    }
  }
  // Relaxed: a new reference is made from an existing one.
  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // Acquire-release: the last one sees every use before deleting.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

const WakerVTable Parker::kUnparkVTable = {
    .clone =
        [](void* data) {
          static_cast<Core*>(data)->Ref();
          return Waker(&kUnparkVTable, data);
        },
    .wake =
        [](void* data) {
          static_cast<Core*>(data)->Unpark();
          static_cast<Core*>(data)->Unref();
        },
    .wake_by_ref = [](void* data) { static_cast<Core*>(data)->Unpark(); },
    .drop = [](void* data) { static_cast<Core*>(data)->Unref(); },
};

Parker::Parker() : core_(new Core) {}
Parker::~Parker() { core_->Unref(); }

void Parker::Park(Instant deadline) {
  std::atomic<uint32_t>& word = core_->word;
  uint32_t state = kNotified;
  // Acquire: pairs with the release in Unpark.
  if (word.compare_exchange_strong(state, kEmpty, std::memory_order_acquire)) {
    return;
  }
  if (deadline <= Instant::FromNanoseconds(0)) return;
  state = kEmpty;
  // Acquire: where it fails, the notification that came meanwhile is ours.
  if (word.compare_exchange_strong(state, kParked, std::memory_order_acquire)) {
    task_internal::FutexWait(word, kParked, deadline);
  }
  // Acquire: pairs with the release in Unpark. Early returns are allowed.
  word.exchange(kEmpty, std::memory_order_acquire);
}

Waker Parker::Unparker() {
  core_->Ref();
  return Waker(&kUnparkVTable, core_);
}

void Parker::Unpark() { core_->Unpark(); }

namespace {

constinit thread_local Parker* thread_parker = nullptr;

constinit thread_local bool thread_is_ending = false;

// Destroys the thread's parker when the thread ends.
struct ParkerOwner {
  ~ParkerOwner() {
    thread_is_ending = true;
    delete std::exchange(thread_parker, nullptr);
  }
};

// Another thread-local's destructor may park after the parker is destroyed. It
// gets a new one, which lives forever: nothing says when the thread is over.
Parker& MakeThreadParker() {
  thread_parker = new Parker;
  if (!thread_is_ending) {
    static thread_local ParkerOwner owner;
    static_cast<void>(owner);
  } else {
    static std::mutex* const mutex = new std::mutex;
    static auto* const late = new std::vector<Parker*>;
    std::lock_guard lock(*mutex);
    late->push_back(thread_parker);
  }
  return *thread_parker;
}

}  // namespace

[[gnu::noinline]] Driver& Driver::OfThread() {
  return thread_parker != nullptr ? *thread_parker : MakeThreadParker();
}

}  // namespace weft
