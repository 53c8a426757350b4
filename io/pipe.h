// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Pipe: the two ends of a kernel pipe, the simplest byte stream between tasks,
// threads or processes.
//
//   absl::StatusOr<io::Pipe> pipe = io::Pipe::Create();
//   if (!pipe.ok()) return pipe.status();
//   co_await io::WriteAll(pipe->writer, data);
//   co_await io::Shutdown(pipe->writer);            // the reader sees the end
//
// A write that nobody can read fails with EPIPE; SIGPIPE is not raised. Both
// ends are closed in programs that this process executes.
//
// Thread safety: each end as an AsyncRead or AsyncWrite: one task at a time.
// The two ends are independent. Close() from any thread.
// Lifetime: each end is open until destroyed or, the writer, shut down.
// Dropping: of a pending read or write, nothing is lost and nothing was
// written.
#ifndef WEFT_IO_PIPE_H_
#define WEFT_IO_PIPE_H_

#include <stddef.h>

#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/source.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

struct Pipe;

// An AsyncRead. Ends when every writing end is closed and the pipe is empty.
class [[nodiscard]] PipeReader {
 public:
  // Over a descriptor that is the reading end of a pipe; see Source::Create.
  static absl::StatusOr<PipeReader> FromFd(Fd fd);

  explicit PipeReader(Source source)
      : PipeReader(std::move(source), /*short_means_drained=*/false) {}

  Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to);

  Source& source() { return source_; }
  void Close() { source_.Close(); }
  Fd IntoFd() && { return std::move(source_).IntoFd(); }

 private:
  friend Pipe;
  PipeReader(Source source, bool short_means_drained)
      : source_(std::move(source)), short_means_drained_(short_means_drained) {}

  Source source_;
  // False for a pipe of unknown origin: in packet mode (O_DIRECT), which only
  // the writing end can see, a short read proves nothing.
  bool short_means_drained_;
};

// An AsyncWrite.
class [[nodiscard]] PipeWriter {
 public:
  // Over a descriptor that is the writing end of a pipe; see Source::Create.
  static absl::StatusOr<PipeWriter> FromFd(Fd fd);

  explicit PipeWriter(Source source) : source_(std::move(source)) {}

  Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                           std::span<const char> from);
  // At once: the kernel has what was accepted.
  Polled<absl::Status> PollFlush(Context& cx);
  // Closes this end.
  Polled<absl::Status> PollShutdown(Context& cx);

  Source& source() { return source_; }
  void Close() { source_.Close(); }
  Fd IntoFd() && { return std::move(source_).IntoFd(); }

 private:
  Source source_;
};

struct Pipe {
  // Fails as pipe2(2) does: EMFILE, ENFILE.
  static absl::StatusOr<Pipe> Create();

  PipeReader reader;
  PipeWriter writer;
};

}  // namespace weft::io

#endif  // WEFT_IO_PIPE_H_
