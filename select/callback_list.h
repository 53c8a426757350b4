// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CallbackList: functions to be called once, each of which may leave before.
//
// Whoever leaves while its function runs on another thread waits until that has
// returned; on the same thread, inside of the function that is, it does not
// wait. This is what std::stop_callback promises. Internal.
//
// Thread safety: guarded by a mutex of the owner's, which is not held while a
// function runs.
// Lifetime: a node that was added is removed before it goes; the list outlives
// RunAll() and every Remove().
#ifndef WEFT_SELECT_CALLBACK_LIST_H_
#define WEFT_SELECT_CALLBACK_LIST_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weft::select_internal {

struct CallbackNode {
  using RunFn = void (*)(CallbackNode& node) noexcept;

  explicit CallbackNode(RunFn run) : run(run) {}
  CallbackNode(const CallbackNode&) = delete;  // the list holds its address
  CallbackNode& operator=(const CallbackNode&) = delete;

  const RunFn run;

  // Guarded by the owner's mutex.
  bool queued = false;
  CallbackNode* previous = nullptr;
  CallbackNode* next = nullptr;
};

class CallbackList {
 public:
  CallbackList() = default;
  CallbackList(const CallbackList&) = delete;
  CallbackList& operator=(const CallbackList&) = delete;

  // Requires: the mutex.
  void Add(CallbackNode& node);

  // Calls and takes out all, in the order in which they were added; `lock` is
  // released meanwhile. Called by one thread, once nothing is added any more.
  void RunAll(std::unique_lock<std::mutex>& lock);

  // Takes `node` out, or waits as said above; it has been added.
  void Remove(std::unique_lock<std::mutex>& lock, CallbackNode& node);

 private:
  void Unlink(CallbackNode& node);

  CallbackNode* front_ = nullptr;
  CallbackNode* back_ = nullptr;
  // Whose function runs now, and on which thread. The node may be gone already:
  // its address is only compared.
  const CallbackNode* running_ = nullptr;
  std::thread::id thread_;
  // How many functions have returned. Changes under the mutex; threads sleep on
  // it without.
  std::atomic<uint32_t> returned_{0};
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_CALLBACK_LIST_H_
