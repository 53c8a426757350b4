// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Content types by the ending of a file's name.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_CONTENT_TYPE_H_
#define WEFT_EXAMPLES_HTTP_CONTENT_TYPE_H_

#include <string_view>

namespace http {

// The type of a file called `name`; "application/octet-stream" if its ending,
// in whatever case, is not a known one.
std::string_view ContentTypeOf(std::string_view name);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_CONTENT_TYPE_H_
