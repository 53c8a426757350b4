// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AsyncRead and AsyncWrite: what every byte stream offers, whatever it is made
// of: a socket, a pipe, a buffer, TLS. Algorithms (read_exact.h, write_all.h,
// copy.h, buffered_reader.h) take any of them.
//
// AsyncRead:
//   Polled<absl::StatusOr<size_t>> PollRead(Context& cx, std::span<char> to);
//
//   Ready with n, 1 <= n <= to.size(): the first n bytes of `to` are the next n
//   of the stream. Ready with 0: the end of the stream, and again each time; or
//   `to` is empty, then at once. Ready with an error: nothing was taken. `to`
//   may be uninitialised memory; bytes after the first n are unspecified.
//   Pending: nothing was taken and `to` is not kept, so the next call may bring
//   another buffer, and dropping the wait loses nothing.
//
// AsyncWrite:
//   Polled<absl::StatusOr<size_t>> PollWrite(Context& cx,
//                                            std::span<const char> from);
//   Polled<absl::Status> PollFlush(Context& cx);
//   Polled<absl::Status> PollShutdown(Context& cx);
//
//   PollWrite. Ready with n: the first n bytes of `from` were accepted, n >= 1
//   unless `from` is empty. Accepted bytes may still be in a buffer. Ready with
//   an error: none of these bytes was accepted. Pending: none was, and `from`
//   is not kept.
//   PollFlush. Ready when every byte accepted so far has been handed on to what
//   is below: for a descriptor, to the kernel.
//   PollShutdown. Flushes, then tells the other side that nothing will follow,
//   so that it reads the end of the stream. Ready again at once if called
//   again; writing afterwards is an error. Destroying a stream without it may
//   lose what was not flushed. The reading direction is not concerned.
//
// For all of them: pending means that cx.waker() was kept in place of any
// earlier one of the same direction; ready ones are charged to cx's budget by
// whoever reaches a leaf. An error stands for the whole stream unless its type
// says that it may be repeated.
//
// Vectored forms are not part of the concepts: a type may offer PollReadV and
// PollWriteV, algorithms ask for them with `requires` and do without.
//
// Thread safety: one task at a time reads and one writes. Whether these may be
// two different ones at the same time is the type's to say.
#ifndef WEFT_IO_ASYNC_IO_H_
#define WEFT_IO_ASYNC_IO_H_

#include <stddef.h>

#include <concepts>
#include <span>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::io {

template <class R>
concept AsyncRead =
    std::is_object_v<R> && requires(R& r, Context& cx, std::span<char> to) {
      { r.PollRead(cx, to) } -> std::same_as<Polled<absl::StatusOr<size_t>>>;
    };

template <class W>
concept AsyncWrite = std::is_object_v<W> &&
                     requires(W& w, Context& cx, std::span<const char> from) {
                       {
                         w.PollWrite(cx, from)
                       } -> std::same_as<Polled<absl::StatusOr<size_t>>>;
                       {
                         w.PollFlush(cx)
                       } -> std::same_as<Polled<absl::Status>>;
                       {
                         w.PollShutdown(cx)
                       } -> std::same_as<Polled<absl::Status>>;
                     };

}  // namespace weft::io

#endif  // WEFT_IO_ASYNC_IO_H_
