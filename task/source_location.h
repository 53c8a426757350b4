// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SourceLocation: a place in a program, for reports.
//
//   auto Spawn(F future, SourceLocation at = SourceLocation::current());
//
// A default argument is the caller's place; who passes a call on passes it, too.
#ifndef WEFT_TASK_SOURCE_LOCATION_H_
#define WEFT_TASK_SOURCE_LOCATION_H_

#include <source_location>
#include <string>

namespace weft {

// One word in the library that both compilers use. Its line is 0 where it is not
// known.
using SourceLocation = std::source_location;

// "server.cc:41", without folders; empty if it is not known.
std::string FileAndLine(const SourceLocation& at);

}  // namespace weft

#endif  // WEFT_TASK_SOURCE_LOCATION_H_
