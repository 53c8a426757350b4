// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RawClient: a client that sends whatever bytes a test wants.
//
//   RawClient client(port);
//   client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
//   std::optional<RawResponse> response = client.Receive();
//
// Blocks; gives up after ten seconds, as if the connection were closed.
//
// Thread safety: one thread at a time.
#ifndef WEFT_TESTS_EXAMPLES_RAW_CLIENT_H_
#define WEFT_TESTS_EXAMPLES_RAW_CLIENT_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weft::testing {

struct RawResponse {
  int status = 0;
  std::map<std::string, std::string> fields;  // names in lower case
  std::string body;

  // The value of a field, "" if it is missing.
  std::string Field(const std::string& name) const;
};

class RawClient {
 public:
  // Connects. `receive_buffer` (bytes) bounds what the system takes in advance;
  // 0 leaves it alone.
  explicit RawClient(int port, int receive_buffer = 0);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  bool IsConnected() const { return fd_ >= 0; }

  // False if the connection is closed.
  bool Send(std::string_view bytes);

  // The next response; its body is left out if it answers a HEAD. Nullopt if
  // the connection ends before that is complete.
  std::optional<RawResponse> Receive(bool is_head = false);
  // Sends a request without a body and receives its response.
  std::optional<RawResponse> Fetch(std::string_view target,
                                   std::string_view fields = "",
                                   std::string_view method = "GET");

  // Receives up to `size` bytes, at least one unless the connection ended.
  std::string ReceiveSome(size_t size);
  // True if the server closes the connection without sending anything more.
  bool IsClosedByServer();
  // Nothing more will be sent.
  void ShutdownWrite();
  // Closes: properly, or by a reset.
  void Close();
  void Reset();

 private:
  // Appends to `received_`; false if the connection ended.
  bool Fill();

  int fd_ = -1;
  std::string received_;
};

}  // namespace weft::testing

#endif  // WEFT_TESTS_EXAMPLES_RAW_CLIENT_H_
