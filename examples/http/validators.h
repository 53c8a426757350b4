// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Validators: what tells a client whether its copy of a file is still good.
//
//   Validators validators(size, modified);
//   if (validators.Match(request)) -> 304, without a body
//
// Thread safety: as a std::string.
#ifndef WEFT_EXAMPLES_HTTP_VALIDATORS_H_
#define WEFT_EXAMPLES_HTTP_VALIDATORS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "weft/examples/http/request.h"

namespace http {

class Validators {
 public:
  // Of a file of `size` bytes that was last written at `modified`.
  Validators(uint64_t size, absl::Time modified);

  // The values of the fields ETag and Last-Modified.
  const std::string& etag() const { return etag_; }
  std::string LastModified() const;

  // True if the client's conditions (If-None-Match or, only without that,
  // If-Modified-Since) say that it has this very file.
  bool Match(const Request& request) const;

  // True unless If-Range names another version of the file, which a part of
  // this one must not be added to.
  bool AllowRange(const Request& request) const;

 private:
  std::string etag_;
  absl::Time modified_;  // in whole seconds
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_VALIDATORS_H_
