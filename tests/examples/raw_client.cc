// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/examples/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace weft::testing {
namespace {

// The status line and fields of `head`.
RawResponse ParseHead(std::string_view head) {
  RawResponse response;
  if (head.starts_with("HTTP/1.1 ")) {
    response.status = std::atoi(std::string(head.substr(9, 3)).c_str());
  }
  head.remove_prefix(std::min(head.size(), head.find("\r\n") + 2));
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    response.fields[name] = line.substr(colon + 2);
  }
  return response;
}

}  // namespace

std::string RawResponse::Field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

RawClient::RawClient(int port, int receive_buffer) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (receive_buffer > 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer,
               sizeof(receive_buffer));
  }
  const int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  const timeval patience = {10, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));

  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
      0) {
    Close();
  }
}

RawClient::~RawClient() { Close(); }

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::optional<RawResponse> RawClient::Receive(bool is_head) {
  size_t head_end;
  while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return std::nullopt;
  }
  RawResponse response =
      ParseHead(std::string_view(received_).substr(0, head_end + 2));
  received_.erase(0, head_end + 4);
  const size_t size =
      is_head ? 0
              : std::strtoull(response.Field("content-length").c_str(), nullptr,
                              10);
  while (received_.size() < size) {
    if (!Fill()) return std::nullopt;
  }
  response.body = received_.substr(0, size);
  received_.erase(0, size);
  return response;
}

std::optional<RawResponse> RawClient::Fetch(std::string_view target,
                                            std::string_view fields,
                                            std::string_view method) {
  std::string request(method);
  request += ' ';
  request += target;
  request += " HTTP/1.1\r\nHost: h\r\n";
  request += fields;
  request += "\r\n";
  if (!Send(request)) return std::nullopt;
  return Receive(method == "HEAD");
}

std::string RawClient::ReceiveSome(size_t size) {
  if (received_.empty()) Fill();
  std::string some = received_.substr(0, size);
  received_.erase(0, some.size());
  return some;
}

bool RawClient::IsClosedByServer() { return received_.empty() && !Fill(); }

void RawClient::ShutdownWrite() { shutdown(fd_, SHUT_WR); }

void RawClient::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void RawClient::Reset() {
  const linger at_once = {1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  Close();
}

bool RawClient::Fill() {
  char buffer[16 << 10];
  const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
  if (n <= 0) return false;
  received_.append(buffer, static_cast<size_t>(n));
  return true;
}

}  // namespace weft::testing
