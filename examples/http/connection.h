// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ServeConnection: reads requests from a byte stream and answers them.
//
// One request after the other, as they come: a pipelined one waits in the
// stream until the one before is answered, so a client that sends much and
// reads nothing costs no memory. The connection ends when the client wants it,
// when a request cannot be read or has a body, when the client makes us wait
// for too long, or when the service is stopping.
//
// The stream is anything that can be read and written: a TCP connection, a
// pair of pipes in a test.
//
// Thread safety: one task.
// Dropping: closes the stream, in the middle of a response if there is one.
#ifndef WEFT_EXAMPLES_HTTP_CONNECTION_H_
#define WEFT_EXAMPLES_HTTP_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "http_parser.h"
#include "weft/examples/http/log_line.h"
#include "weft/examples/http/request.h"
#include "weft/examples/http/request_parser.h"
#include "weft/examples/http/response.h"
#include "weft/examples/http/send_response.h"
#include "weft/examples/http/service.h"
#include "weft/io/async_io.h"
#include "weft/io/read.h"
#include "weft/io/write.h"
#include "weft/select/select.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/task.h"
#include "weft/timer/timeout.h"

namespace http {

template <class Stream>
  requires weft::io::AsyncRead<Stream> && weft::io::AsyncWrite<Stream>
class Connection {
 public:
  Connection(Stream stream, std::string client, Service& service)
      : stream_(std::move(stream)),
        client_(std::move(client)),
        service_(service),
        buffer_(kBufferSize) {}

  weft::Task<void> Serve() {
    for (;;) {
      const std::optional<Request> request = co_await Receive();
      if (!request.has_value()) co_return;
      const Response response = co_await service_.site.Answer(*request);
      const bool keep_alive = request->keep_alive && !request->has_body &&
                              !service_.stopping.IsCancelled();
      const bool with_body = request->method != "HEAD";
      const absl::Time now = absl::Now();
      service_.log.Add(LogLine(client_, *request, response.status(),
                               with_body ? response.body_size() : 0, now));
      const absl::Status sent =
          co_await SendResponse(stream_, response.Head(keep_alive, now),
                                response, with_body, service_.patience.send);
      if (!sent.ok()) co_return;
      if (!keep_alive) break;
    }
    co_await Linger();
  }

 private:
  static constexpr size_t kBufferSize = 8 << 10;
  // How much, and for how long, a client may go on sending when we are done.
  static constexpr size_t kMaxLinger = 256 << 10;
  static constexpr absl::Duration kLingerTime = absl::Seconds(2);

  // The next request, whole or broken; nullopt if the connection is over.
  weft::Task<std::optional<Request>> Receive() {
    const Patience& patience = service_.patience;
    weft::Instant deadline =
        Now() + (is_first_ ? patience.head : patience.idle);
    is_first_ = false;
    bool has_begun = false;
    while (!parser_.Parse(unparsed_)) {
      if (parser_.HasBegun() && !std::exchange(has_begun, true)) {
        deadline = Now() + patience.head;
      }
      const absl::Status read = co_await ReadMore(deadline);
      if (absl::IsDeadlineExceeded(read) && has_begun) {
        co_return parser_.TakeBroken(HTTP_STATUS_REQUEST_TIMEOUT);
      }
      if (!read.ok()) co_return std::nullopt;
    }
    co_return parser_.TakeRequest();
  }

  // Fills `unparsed_`. The end of the stream is an error, and so is a request
  // to stop, unless there is something to be read first.
  weft::Task<absl::Status> ReadMore(weft::Instant deadline) {
    auto read = weft::timer::TimeoutAt(
        deadline, weft::io::Read(stream_, std::span<char>(buffer_)));
    auto stop = service_.stopping.token().Cancelled();
    const auto first = co_await weft::Select(weft::Biased(), read, stop);
    if (first.index() != 0) co_return absl::CancelledError();
    const absl::StatusOr<size_t>& n = std::get<0>(first).value;
    if (!n.ok()) co_return n.status();
    if (*n == 0) co_return absl::OutOfRangeError("");
    unparsed_ = std::string_view(buffer_.data(), *n);
    co_return absl::OkStatus();
  }

  // Closing a socket with unread bytes resets the connection, which may cost
  // the client the response. So it gets to see the end first, and what it still
  // sends is read, within limits.
  weft::Task<void> Linger() {
    const weft::Instant deadline = Now() + kLingerTime;
    const absl::Status shut =
        co_await weft::timer::TimeoutAt(deadline, weft::io::Shutdown(stream_));
    if (!shut.ok()) co_return;
    for (size_t size = 0; size < kMaxLinger;) {
      const absl::StatusOr<size_t> n = co_await weft::timer::TimeoutAt(
          deadline, weft::io::Read(stream_, std::span<char>(buffer_)));
      if (!n.ok() || *n == 0) co_return;
      size += *n;
    }
  }

  static weft::Instant Now() { return weft::Environment::CurrentClock().Now(); }

  Stream stream_;
  const std::string client_;
  Service& service_;
  RequestParser parser_;
  std::vector<char> buffer_;
  std::string_view unparsed_;  // in `buffer_`
  bool is_first_ = true;
};

// Serves `stream`, the connection of `client` (how the access log calls it).
template <class Stream>
weft::Task<void> ServeConnection(Stream stream, std::string client,
                                 std::shared_ptr<Service> service) {
  Connection<Stream> connection(std::move(stream), std::move(client), *service);
  co_await connection.Serve();
}

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_CONNECTION_H_
