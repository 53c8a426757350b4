// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/async_io.h"

#include <stddef.h>

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/io/buffered_reader.h"
#include "weft/io/pipe.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"
#include "weft/tests/io/scripted_stream.h"

namespace weft::io {
namespace {

struct WrongResult {
  Polled<size_t> PollRead(Context&, std::span<char>) { return kPending; }
};

static_assert(AsyncRead<PipeReader>);
static_assert(!AsyncWrite<PipeReader>);
static_assert(AsyncWrite<PipeWriter>);
static_assert(!AsyncRead<PipeWriter>);
static_assert(AsyncRead<ScriptedReader>);
static_assert(AsyncWrite<ScriptedWriter>);
static_assert(AsyncRead<BufferedReader<PipeReader>>);
static_assert(AsyncRead<BufferedReader<PipeReader&>>);
static_assert(!AsyncRead<PipeReader&>);
static_assert(!AsyncRead<WrongResult>);
static_assert(!AsyncRead<int>);

// What a user writes in ten lines is a stream.
class Zeroes {
 public:
  Polled<absl::StatusOr<size_t>> PollRead(Context&, std::span<char> to) {
    for (char& c : to) c = 0;
    return absl::StatusOr<size_t>(to.size());
  }
};

TEST(AsyncIoTest, IsSatisfiedByAPlainClass) {
  static_assert(AsyncRead<Zeroes>);
  Zeroes zeroes;
  char buffer[3] = {1, 2, 3};
  Context cx(NoopWaker());

  EXPECT_EQ(zeroes.PollRead(cx, buffer)->value(), 3u);
  EXPECT_EQ(buffer[2], 0);
}

}  // namespace
}  // namespace weft::io
