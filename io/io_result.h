// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// IoResult: what one non-blocking system call gave: a count, "would block",
// "closed", or an error of the system.
//
// It is two words and allocates nothing, so that a would-block costs nothing;
// whoever hands an error to a user turns it into a Status that names the call
// and its object.
//
//   IoResult result = source.TryIo(Direction::kRead, [&](int fd) {
//     return recv(fd, buffer.data(), buffer.size(), 0);
//   });
//   if (result.WouldBlock()) ...
//   return result.Get("recv 127.0.0.1:80");
//
// Thread safety: as an int.
#ifndef WEFT_IO_IO_RESULT_H_
#define WEFT_IO_IO_RESULT_H_

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::io {

class [[nodiscard]] IoResult {
 public:
  // Of a system call that returned `returned`; if negative, errno tells why.
  static IoResult Of(ssize_t returned) {
    return returned >= 0 ? IoResult(static_cast<size_t>(returned), 0)
                         : IoResult(0, errno);
  }
  // `error` is an errno value.
  static constexpr IoResult Error(int error) { return IoResult(0, error); }
  static constexpr IoResult WouldBlockError() { return IoResult(0, EAGAIN); }
  // The descriptor was closed by its owner.
  static constexpr IoResult SourceClosed() { return IoResult(0, -1); }
  // The reactor that watched the descriptor is gone.
  static constexpr IoResult ReactorClosed() { return IoResult(0, -2); }

  bool ok() const { return error_ == 0; }
  bool WouldBlock() const { return error_ == EAGAIN; }
  bool IsClosed() const { return error_ < 0; }

  // What the call returned. Requires: ok().
  size_t value() const { return value_; }
  // The errno value; 0 if ok() or IsClosed().
  int error() const { return error_ > 0 ? error_ : 0; }

  // Ok, or the error as a Status that says `operation` ("recv 127.0.0.1:80");
  // closed ones are ClosedStatus() or ReactorClosedStatus().
  absl::Status status(std::string_view operation) const;
  // value(), or status(operation).
  absl::StatusOr<size_t> Get(std::string_view operation) const;

 private:
  constexpr IoResult(size_t value, int error) : value_(value), error_(error) {}

  size_t value_;
  int error_;
};

// What a wait or a call on a descriptor gives that was closed by Close() or by
// the destruction of its owner. Code: that of weft::ClosedStatus().
absl::Status ClosedStatus();
// The same where the reactor was destroyed. Code: kUnavailable.
absl::Status ReactorClosedStatus();

}  // namespace weft::io

#endif  // WEFT_IO_IO_RESULT_H_
