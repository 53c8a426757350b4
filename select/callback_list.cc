// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A node is in the list, or is the one that runs, or is done with,
// and goes from one to the next under the mutex. Whoever removes the one that
// runs sleeps on the count of those that have returned, which it read under the
// mutex while that one still ran: so the count it waits for comes later. The
// one who runs looks at a node only before its function is called.
#include "weft/select/callback_list.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weft::select_internal {

void CallbackList::Add(CallbackNode& node) {
  node.queued = true;
  node.previous = back_;
  (back_ != nullptr ? back_->next : front_) = &node;
  back_ = &node;
}

void CallbackList::RunAll(std::unique_lock<std::mutex>& lock) {
  while (front_ != nullptr) {
    CallbackNode& node = *front_;
    Unlink(node);
    running_ = &node;
    thread_ = std::this_thread::get_id();
    lock.unlock();
    node.run(node);
    lock.lock();
    running_ = nullptr;
    // Relaxed: whoever sleeps on it takes the mutex before it goes on.
    returned_.fetch_add(1, std::memory_order_relaxed);
    returned_.notify_all();
  }
}

void CallbackList::Remove(std::unique_lock<std::mutex>& lock,
                          CallbackNode& node) {
  if (node.queued) {
    Unlink(node);
    return;
  }
  if (thread_ == std::this_thread::get_id()) return;
  while (running_ == &node) {
    // Relaxed: as in RunAll.
    const uint32_t returned = returned_.load(std::memory_order_relaxed);
    lock.unlock();
    returned_.wait(returned, std::memory_order_relaxed);
    lock.lock();
  }
}

void CallbackList::Unlink(CallbackNode& node) {
  node.queued = false;
  (node.previous != nullptr ? node.previous->next : front_) = node.next;
  (node.next != nullptr ? node.next->previous : back_) = node.previous;
}

}  // namespace weft::select_internal
