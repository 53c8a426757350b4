// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_stream.h"

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/io/io_result.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::net {
namespace {

using io::IoResult;

absl::StatusOr<size_t> ToCount(IoResult result, const char* operation,
                               const SimulatedStream& stream) {
  if (result.ok()) return result.value();
  if (result.IsClosed()) return result.status(operation);
  return result.status(absl::StrCat(operation, " ", stream.peer_address()));
}

}  // namespace

SimulatedStream::~SimulatedStream() {
  if (end_ != nullptr) end_->Release();
}

Polled<absl::StatusOr<size_t>> SimulatedStream::PollRead(Context& cx,
                                                         std::span<char> to) {
  if (to.empty()) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = end_->PollRead(cx, to);
  if (result.IsPending()) return kPending;
  return ToCount(*result, "recv", *this);
}

Polled<absl::StatusOr<size_t>> SimulatedStream::PollWrite(
    Context& cx, std::span<const char> from) {
  if (from.empty()) return absl::StatusOr<size_t>(0);
  const Polled<IoResult> result = end_->PollWrite(cx, from);
  if (result.IsPending()) return kPending;
  return ToCount(*result, "send", *this);
}

Polled<absl::Status> SimulatedStream::PollFlush(Context&) {
  return absl::OkStatus();
}

Polled<absl::Status> SimulatedStream::PollShutdown(Context&) {
  return ToCount(end_->Shutdown(), "shutdown", *this).status();
}

}  // namespace weft::net
