// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SymbolOf: the name of the function that a return address is in. Internal.
//
// Thread safety: any thread; takes a lock.
#ifndef WEFT_EXECUTOR_SYMBOLIZE_H_
#define WEFT_EXECUTOR_SYMBOLIZE_H_

#include <string>

namespace weft::executor_internal {

// Empty if the program's symbols do not tell.
std::string SymbolOf(const void* return_address);

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_SYMBOLIZE_H_
