// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/readiness.h"
#include "weft/io/sigpipe.h"
#include "weft/io/source.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::io {

absl::StatusOr<PipeReader> PipeReader::FromFd(Fd fd) {
  absl::StatusOr<Source> source = Source::Create(std::move(fd));
  if (!source.ok()) return source.status();
  return PipeReader(*std::move(source));
}

Polled<absl::StatusOr<size_t>> PipeReader::PollRead(Context& cx,
                                                    std::span<char> to) {
  if (to.empty()) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = source_.PollIo(
      cx, Direction::kRead,
      [&](int fd) { return read(fd, to.data(), to.size()); },
      short_means_drained_ ? to.size() : 0);
  if (result.IsPending()) return kPending;
  return result->Get("read from a pipe");
}

absl::StatusOr<PipeWriter> PipeWriter::FromFd(Fd fd) {
  absl::StatusOr<Source> source = Source::Create(std::move(fd));
  if (!source.ok()) return source.status();
  return PipeWriter(*std::move(source));
}

Polled<absl::StatusOr<size_t>> PipeWriter::PollWrite(
    Context& cx, std::span<const char> from) {
  if (from.empty()) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = source_.PollIo(
      cx, Direction::kWrite,
      [&](int fd) { return WriteNoSigpipe(fd, from.data(), from.size()); },
      from.size());
  if (result.IsPending()) return kPending;
  return result->Get("write to a pipe");
}

Polled<absl::Status> PipeWriter::PollFlush(Context&) {
  return absl::OkStatus();
}

Polled<absl::Status> PipeWriter::PollShutdown(Context&) {
  source_.Close();
  return absl::OkStatus();
}

absl::StatusOr<Pipe> Pipe::Create() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
    return ErrnoStatus(errno, "pipe2");
  }
  return Pipe{
      PipeReader(Source::Adopt(Fd(fds[0])), /*short_means_drained=*/true),
      PipeWriter(Source::Adopt(Fd(fds[1])))};
}

}  // namespace weft::io
