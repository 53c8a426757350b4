// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/request_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"

namespace http {

const http_parser_settings RequestParser::kSettings = [] {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_message_begin = [](http_parser* parser) {
    Of(parser).has_begun_ = true;
    return 0;
  };
  settings.on_url = [](http_parser* parser, const char* part, size_t size) {
    return Of(parser).OnTarget({part, size});
  };
  settings.on_header_field = [](http_parser* parser, const char* part,
                                size_t size) {
    return Of(parser).OnFieldName({part, size});
  };
  settings.on_header_value = [](http_parser* parser, const char* part,
                                size_t size) {
    return Of(parser).OnFieldValue({part, size});
  };
  settings.on_headers_complete = [](http_parser* parser) {
    return Of(parser).OnHeadEnd();
  };
  settings.on_message_complete = [](http_parser* parser) {
    http_parser_pause(parser, 1);
    return 0;
  };
  return settings;
}();

RequestParser& RequestParser::Of(http_parser* parser) {
  return *static_cast<RequestParser*>(parser->data);
}

bool RequestParser::Parse(std::string_view& input) {
  if (input.empty()) return false;  // to the library, the end of the connection
  const size_t size = std::min(input.size(), kMaxHead - head_size_);
  const size_t taken =
      http_parser_execute(&parser_, &kSettings, input.data(), size);
  input.remove_prefix(taken);
  head_size_ += taken;
  if (is_complete_ || request_.error != 0) return true;
  if (parser_.http_errno != HPE_OK) {
    Fail(StatusOfError(input));
  } else if (head_size_ == kMaxHead) {
    Fail(HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE);
  }
  return request_.error != 0;
}

Request RequestParser::TakeRequest() {
  Request request = std::move(request_);
  Reset();
  return request;
}

Request RequestParser::TakeBroken(int error) {
  Fail(error);
  return TakeRequest();
}

int RequestParser::OnTarget(std::string_view part) {
  request_.method = http_method_str(static_cast<http_method>(parser_.method));
  request_.target += part;
  return request_.target.size() > kMaxTarget ? Fail(HTTP_STATUS_URI_TOO_LONG)
                                             : 0;
}

int RequestParser::OnFieldName(std::string_view part) {
  // The library may have been built to let this pass. To some other server
  // "Content-Length : 9" means a body, to this one it would mean nothing.
  if (part.find(' ') != std::string_view::npos) {
    return Fail(HTTP_STATUS_BAD_REQUEST);
  }
  if (std::exchange(in_value_, false) || request_.fields.empty()) {
    if (request_.fields.size() == kMaxFields) {
      return Fail(HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    request_.fields.emplace_back();
  }
  request_.fields.back().first += part;
  return 0;
}

int RequestParser::OnFieldValue(std::string_view part) {
  in_value_ = true;
  request_.fields.back().second += part;
  return 0;
}

int RequestParser::OnHeadEnd() {
  request_.major = parser_.http_major;
  request_.minor = parser_.http_minor;
  request_.keep_alive = http_should_keep_alive(&parser_) != 0;
  const bool has_length = (parser_.flags & F_CONTENTLENGTH) != 0;
  request_.has_body = (has_length && parser_.content_length != 0) ||
                      parser_.uses_transfer_encoding != 0;
  is_complete_ = true;
  if (request_.has_body) http_parser_pause(&parser_, 1);
  return 0;
}

void RequestParser::Reset() {
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
  request_ = Request();
  head_size_ = 0;
  has_begun_ = false;
  in_value_ = false;
  is_complete_ = false;
}

int RequestParser::Fail(int error) {
  request_.error = error;
  request_.keep_alive = false;
  return 1;
}

int RequestParser::StatusOfError(std::string_view rest) const {
  switch (parser_.http_errno) {
    case HPE_HEADER_OVERFLOW:
      return HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE;
    case HPE_INVALID_METHOD:
      // A word that is no method the library knows, or no word at all.
      return !rest.empty() &&
                     absl::ascii_isalnum(static_cast<unsigned char>(rest[0]))
                 ? HTTP_STATUS_NOT_IMPLEMENTED
                 : HTTP_STATUS_BAD_REQUEST;
    default:
      return HTTP_STATUS_BAD_REQUEST;
  }
}

}  // namespace http
