// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RelaxProcessor: what a loop does between two looks at a word that another
// thread will write. Internal.
//
// Lets the other hardware thread of a core run, and costs some 50 ns.
#ifndef WEFT_EXECUTOR_RELAX_PROCESSOR_H_
#define WEFT_EXECUTOR_RELAX_PROCESSOR_H_

namespace weft::executor_internal {

inline void RelaxProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_RELAX_PROCESSOR_H_
