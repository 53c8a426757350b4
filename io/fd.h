// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Fd: owns a file descriptor.
//
// Thread safety: as an int.
// Lifetime: the descriptor is open as long as the Fd that owns it.
// Dropping: closes the descriptor.
//
//   Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
//   if (!fd.IsValid()) return ErrnoStatus(errno, "socket");
#ifndef WEFT_IO_FD_H_
#define WEFT_IO_FD_H_

#include <utility>

#include "absl/status/statusor.h"

namespace weft::io {

class [[nodiscard]] Fd {
 public:
  // Owns nothing.
  constexpr Fd() = default;
  // Takes over `fd`; -1, what a failed system call returns, means none.
  explicit constexpr Fd(int fd) : fd_(fd) {}

  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Reset(); }

  bool IsValid() const { return fd_ >= 0; }
  // The number, still owned by this object; -1 if it owns none.
  int get() const { return fd_; }
  // The number, which is the caller's from now on.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  // Closes the descriptor now. Keeps errno.
  void Reset();

 private:
  int fd_ = -1;
};

// Puts the open file that `fd` names into non-blocking (or blocking) mode, for
// everybody who shares it. Returns whether that changed anything, or the
// system's error.
absl::StatusOr<bool> SetNonBlocking(int fd, bool non_blocking);

}  // namespace weft::io

#endif  // WEFT_IO_FD_H_
