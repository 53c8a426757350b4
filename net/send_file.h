// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendFile: sends a part of a file over a connection without copying it through
// this process.
//
//   absl::StatusOr<uint64_t> n = co_await net::SendFile(
//       stream, file.native_handle(), 0, file.metadata_at_open().size());
//
// Uses sendfile(2), in pieces, whenever the connection takes more; for files
// that the system cannot send so it reads pieces and writes them. Before a
// piece that is not in memory is sent, a job of the environment's Offload (if
// there is one) reads it, so that the disk does not hold up the thread.
//
// Errors: those of the system with errno and the peer's address, or of reading
// the file. Thread safety: one task at a time writes to a stream.
// Lifetime: stream and descriptor outlive the future. Dropping: some bytes may
// have been sent; sent() of a future that is kept says how many.
#ifndef WEFT_NET_SEND_FILE_H_
#define WEFT_NET_SEND_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/net/tcp_stream.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"

namespace weft::net {

// Ready with the number of bytes sent: `count`, or fewer if the file ends
// before. Movable also between polls.
class [[nodiscard]] SendFileFuture {
 public:
  using Output = absl::StatusOr<uint64_t>;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  Polled<Output> Poll(Context& cx);

  // The bytes sent so far.
  uint64_t sent() const { return sent_; }

 private:
  friend SendFileFuture SendFile(TcpStream&, int, uint64_t, uint64_t);

  SendFileFuture(TcpStream& stream, int file, uint64_t offset, uint64_t count)
      : stream_(&stream), file_(file), offset_(offset), count_(count) {}

  using ReadOutcome = decltype(std::declval<JoinHandle<void>>().Outcome());

  size_t PieceSize() const;
  bool PollCached(Context& cx);
  Polled<absl::StatusOr<size_t>> PollSend(Context& cx);
  Polled<absl::StatusOr<size_t>> PollCopy(Context& cx);

  TcpStream* stream_;
  int file_;
  uint64_t offset_;
  uint64_t count_;
  uint64_t sent_ = 0;
  uint64_t cached_to_ = 0;  // counted as sent_: up to here it is in memory
  std::optional<ReadOutcome> reading_;
  // For files that sendfile refuses: a piece of it, and how much of that is
  // sent.
  std::unique_ptr<char[]> buffer_;
  size_t buffered_ = 0;
  size_t buffer_sent_ = 0;
};

// Sends `count` bytes of the open file `file`, from `offset` on. The file's own
// position is neither used nor changed.
SendFileFuture SendFile(TcpStream& stream, int file, uint64_t offset,
                        uint64_t count);

}  // namespace weft::net

#endif  // WEFT_NET_SEND_FILE_H_
