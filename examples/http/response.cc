// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/response.h"

#include <utility>

#include "http_parser.h"
#include "weft/examples/http/http_date.h"

namespace http {
namespace {

// "404 Not Found"
std::string StatusText(int status) {
  return std::to_string(status) + ' ' +
         http_status_str(static_cast<http_status>(status));
}

void AppendField(std::string_view name, std::string_view value,
                 std::string& lines) {
  lines += name;
  lines += ": ";
  lines += value;
  lines += "\r\n";
}

}  // namespace

Response Response::Plain(int status) {
  Response response(status);
  response.SetText("text/plain; charset=utf-8", StatusText(status) + '\n');
  return response;
}

void Response::AddField(std::string_view name, std::string_view value) {
  AppendField(name, value, fields_);
}

void Response::SetText(std::string_view type, std::string text) {
  AddField("Content-Type", type);
  text_ = std::move(text);
}

void Response::SetFile(std::string_view type, weft::fs::File file,
                       ByteRange part) {
  AddField("Content-Type", type);
  file_ = std::move(file);
  part_ = part;
}

std::string Response::Head(bool keep_alive, absl::Time now) const {
  std::string head = "HTTP/1.1 " + StatusText(status_) + "\r\n";
  AppendField("Date", FormatHttpDate(now), head);
  AppendField("Connection", keep_alive ? "keep-alive" : "close", head);
  if (status_ != HTTP_STATUS_NOT_MODIFIED) {
    AppendField("Content-Length", std::to_string(body_size()), head);
  }
  head += fields_;
  head += "\r\n";
  return head;
}

}  // namespace http
