// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ScriptedStream: a byte stream whose other end is the test.
//
//   ScriptedStream::Peer peer;
//   executor.Spawn(Serve(ScriptedStream(peer)));
//   peer.Feed("GET / HTTP/1.1\r\n\r\n");
//   executor.RunUntilIdle();
//   EXPECT_EQ(peer.written(), "...");
//
// Thread safety: one thread at a time.
// Lifetime: the peer outlives the stream.
#ifndef WEFT_TESTS_EXAMPLES_SCRIPTED_STREAM_H_
#define WEFT_TESTS_EXAMPLES_SCRIPTED_STREAM_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft::testing {

class ScriptedStream {
 public:
  class Peer;

  explicit ScriptedStream(Peer& peer);
  ScriptedStream(ScriptedStream&& other) noexcept
      : peer_(std::exchange(other.peer_, nullptr)) {}
  ScriptedStream& operator=(ScriptedStream&&) = delete;
  ~ScriptedStream();

  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to);
  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from);
  Polled<absl::Status> PollFlush(Context&) { return absl::OkStatus(); }
  Polled<absl::Status> PollShutdown(Context& cx);

 private:
  Peer* peer_;
};

class ScriptedStream::Peer {
 public:
  // Bytes for the stream's reader; after End() it sees the end.
  void Feed(std::string_view bytes) {
    unread_ += bytes;
    std::exchange(reader_, Waker()).Wake();
  }
  void End() {
    at_end_ = true;
    std::exchange(reader_, Waker()).Wake();
  }
  // At most how many bytes one read gives.
  void LimitReads(size_t size) { read_limit_ = size; }
  // How many more bytes will be taken; without limit at first.
  void Take(size_t size) {
    room_ = size;
    std::exchange(writer_, Waker()).Wake();
  }

  const std::string& written() const { return written_; }
  size_t unread() const { return unread_.size(); }
  bool is_shut() const { return is_shut_; }
  bool is_closed() const { return is_closed_; }

 private:
  friend class ScriptedStream;

  std::string unread_;
  bool at_end_ = false;
  size_t read_limit_ = SIZE_MAX;
  Waker reader_;
  std::string written_;
  size_t room_ = SIZE_MAX;
  Waker writer_;
  bool is_shut_ = false;
  bool is_closed_ = false;
};

inline ScriptedStream::ScriptedStream(Peer& peer) : peer_(&peer) {}
inline ScriptedStream::~ScriptedStream() {
  if (peer_ != nullptr) peer_->is_closed_ = true;
}

inline Polled<absl::StatusOr<size_t>> ScriptedStream::PollRead(
    Context& cx, std::span<char> to) {
  if (!cx.HasBudget()) return kPending;
  const size_t n =
      std::min({to.size(), peer_->unread_.size(), peer_->read_limit_});
  if (n == 0 && !peer_->at_end_) {
    peer_->reader_ = cx.waker();
    return kPending;
  }
  cx.Charge();
  std::copy_n(peer_->unread_.begin(), n, to.begin());
  peer_->unread_.erase(0, n);
  return absl::StatusOr<size_t>(n);
}

inline Polled<absl::StatusOr<size_t>> ScriptedStream::PollWrite(
    Context& cx, std::span<const char> from) {
  if (!cx.HasBudget()) return kPending;
  const size_t n = std::min(from.size(), peer_->room_);
  if (n == 0 && !from.empty()) {
    peer_->writer_ = cx.waker();
    return kPending;
  }
  cx.Charge();
  peer_->written_.append(from.data(), n);
  peer_->room_ -= n;
  return absl::StatusOr<size_t>(n);
}

inline Polled<absl::Status> ScriptedStream::PollShutdown(Context& cx) {
  if (!cx.HasBudget()) return kPending;
  cx.Charge();
  peer_->is_shut_ = true;
  return absl::OkStatus();
}

}  // namespace weft::testing

#endif  // WEFT_TESTS_EXAMPLES_SCRIPTED_STREAM_H_
