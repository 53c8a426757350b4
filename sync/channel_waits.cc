// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/channel_waits.h"

#include <mutex>

#include "weft/sync/wait_queue.h"
#include "weft/task/wake_list.h"

namespace weft::sync_internal {

void ChannelWaits::WakeAll() {
  for (WaitQueue* list : {&receivers, &senders, &closers}) {
    for (;;) {
      WakeList wakers;
      {
        std::lock_guard lock(mutex);
        while (!list->IsEmpty() && !wakers.IsFull()) {
          wakers.Add(list->NotifyFront(WaitNode::kReleased));
        }
      }
      if (wakers.IsEmpty()) break;
      wakers.WakeAll();
    }
  }
}

}  // namespace weft::sync_internal
