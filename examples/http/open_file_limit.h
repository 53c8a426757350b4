// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The limit of open files.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_OPEN_FILE_LIMIT_H_
#define WEFT_EXAMPLES_HTTP_OPEN_FILE_LIMIT_H_

namespace http {

// Lets the process open as many files as the system allows it to: each
// connection needs two. (The usual limit is lower for the sake of select(2),
// which nothing here uses.)
void RaiseOpenFileLimit();

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_OPEN_FILE_LIMIT_H_
