// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/all_cases.h"

#include "weft/bench/sync/broadcast_cases.h"
#include "weft/bench/sync/cancel_cases.h"
#include "weft/bench/sync/chain_cases.h"
#include "weft/bench/sync/channel_cases.h"
#include "weft/bench/sync/lock_cases.h"
#include "weft/bench/sync/mpsc_cases.h"
#include "weft/bench/sync/notify_cases.h"
#include "weft/bench/sync/oneshot_cases.h"
#include "weft/bench/sync/rwlock_cases.h"
#include "weft/bench/sync/select_cases.h"
#include "weft/bench/sync/waiters_cases.h"

namespace weft::bench {

std::vector<Case> AllSyncCases() {
  std::vector<Case> all;
  for (auto list : {ChannelCases, ChainCases, OneshotCases, MpscCases,
                    BroadcastCases, NotifyCases, LockCases, RwlockCases,
                    WaitersCases, SelectCases, CancelCases}) {
    const auto cases = list();
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace weft::bench
