// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ByteRange: the part of a file that a Range field asks for.
//
// One range is understood ("bytes=0-99", "bytes=100-", "bytes=-100"); whatever
// else a field says is ignored, as RFC 9110 section 14.2 allows, and the whole
// file is sent.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_BYTE_RANGE_H_
#define WEFT_EXAMPLES_HTTP_BYTE_RANGE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace http {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;  // 0: the range lies outside of the file

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// The range that `field`, the value of a Range field, means in a file of `size`
// bytes. Nullopt if it is to be ignored.
std::optional<ByteRange> ParseByteRange(std::string_view field, uint64_t size);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_BYTE_RANGE_H_
