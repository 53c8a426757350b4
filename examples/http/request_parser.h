// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RequestParser: bytes in, requests out, one after the other.
//
// A thin wrapper of Node's http_parser that bounds what a request may cost:
// its target 8 KiB, its head 32 KiB and 100 fields. Bodies are not read: a
// request that has one is complete after its head, and says so.
//
//   RequestParser parser;
//   for (std::string_view input = bytes; parser.Parse(input);) {
//     Handle(parser.TakeRequest());
//   }
//
// Thread safety: one thread at a time.
// Lifetime: keeps nothing of its input.
#ifndef WEFT_EXAMPLES_HTTP_REQUEST_PARSER_H_
#define WEFT_EXAMPLES_HTTP_REQUEST_PARSER_H_

#include <cstddef>
#include <string_view>

#include "http_parser.h"
#include "weft/examples/http/request.h"

namespace http {

class RequestParser {
 public:
  static constexpr size_t kMaxTarget = 8 << 10;
  static constexpr size_t kMaxHead = 32 << 10;
  static constexpr size_t kMaxFields = 100;

  RequestParser() { Reset(); }
  RequestParser(const RequestParser&) = delete;  // the parser holds its address
  RequestParser& operator=(const RequestParser&) = delete;

  // Takes bytes from the front of `input`. True if it came to the end of a
  // request, or found that there is none: then TakeRequest() is next. False if
  // all input was taken and more is needed.
  bool Parse(std::string_view& input);

  // True once the first byte of a request has been seen.
  bool HasBegun() const { return has_begun_; }

  // The request; the parser is ready for the next one.
  Request TakeRequest();
  // What there is of it, given up with `error`, an HTTP status.
  Request TakeBroken(int error);

 private:
  // The library's callbacks.
  static const http_parser_settings kSettings;
  static RequestParser& Of(http_parser* parser);
  int OnTarget(std::string_view part);
  int OnFieldName(std::string_view part);
  int OnFieldValue(std::string_view part);
  int OnHeadEnd();

  void Reset();
  // Ends the request with an error; for callbacks to return.
  int Fail(int error);
  // The status for the library's error; `rest` starts at the byte it refused.
  int StatusOfError(std::string_view rest) const;

  http_parser parser_;
  Request request_;
  size_t head_size_;
  bool has_begun_;
  bool in_value_;  // the last piece of a field was of its value
  bool is_complete_;
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_REQUEST_PARSER_H_
