// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/all_cases.h"

#include "weft/bench/sync/channel_cases.h"
#include "weft/bench/sync/lock_cases.h"

namespace weft::bench {

std::vector<Case> AllSyncCases() {
  std::vector<Case> all;
  for (auto list : {ChannelCases, LockCases}) {
    const auto cases = list();
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace weft::bench
