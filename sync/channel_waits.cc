// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/channel_waits.h"

namespace weft::sync_internal {

template class BasicChannelWaits<>;

}  // namespace weft::sync_internal
