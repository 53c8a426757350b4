// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Response: a status, header fields, and a body that is a text or a part of a
// file.
//
//   Response response(HTTP_STATUS_OK);
//   response.SetText("text/html; charset=utf-8", html);
//
// Thread safety: one thread at a time.
// Lifetime: keeps its file open.
#ifndef WEFT_EXAMPLES_HTTP_RESPONSE_H_
#define WEFT_EXAMPLES_HTTP_RESPONSE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "weft/examples/http/byte_range.h"
#include "weft/fs/file.h"

namespace http {

class Response {
 public:
  // Without a body.
  explicit Response(int status) : status_(status) {}
  // With the status's number and words as body; what errors look like.
  static Response Plain(int status);

  // Requires: `value` holds no line break.
  void AddField(std::string_view name, std::string_view value);
  void SetText(std::string_view type, std::string text);
  // The body is `part` of `file`.
  void SetFile(std::string_view type, weft::fs::File file, ByteRange part);

  int status() const { return status_; }
  // The body: a text, unless there is a file.
  const std::string& text() const { return text_; }
  const std::optional<weft::fs::File>& file() const { return file_; }
  ByteRange part() const { return part_; }
  uint64_t body_size() const { return file_ ? part_.length : text_.size(); }

  // The status line and the fields, to be sent at `now`, up to and with the
  // empty line.
  std::string Head(bool keep_alive, absl::Time now) const;

 private:
  int status_;
  std::string fields_;  // lines
  std::string text_;
  std::optional<weft::fs::File> file_;
  ByteRange part_;
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_RESPONSE_H_
