// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/lock_core.h"

#include "weft/sync/lock_word.h"

namespace weft::sync_internal {

template class BasicLockCore<PermitRules>;
template class BasicLockCore<ExclusionRules>;

}  // namespace weft::sync_internal
