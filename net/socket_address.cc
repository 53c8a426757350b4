// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::net {
namespace {

// `what` `text` is not, and why.
absl::Status NotA(std::string_view what, std::string_view text,
                  std::string_view why) {
  std::string message = "not an ";
  message += what;
  message += ": \"";
  message += text.substr(0, 100);
  message += "\": ";
  message += why;
  return absl::InvalidArgumentError(message);
}

bool InBrackets(std::string_view text) {
  return text.size() >= 2 && text.front() == '[' && text.back() == ']';
}

// What is wrong with `ip`, which could not be read.
std::string_view WhyNoIp(std::string_view ip) {
  if (ip.empty()) return "there is no address";
  if (InBrackets(ip)) {
    return ip.find('%') == ip.npos
               ? "what is in the brackets is no IPv6 address"
               : "what is in the brackets is no IPv6 address with an interface "
                 "of this machine";
  }
  if (ip.front() == '[' || ip.back() == ']') return "a bracket is missing";
  if (ip.find(':') != ip.npos) {
    return "an IPv6 address stands in brackets, as in [::1]:80";
  }
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (std::any_of(ip.begin(), ip.end(), is_letter)) {
    return "names are not looked up here";
  }
  return "an IPv4 address is four numbers from 0 to 255";
}

// A decimal number, digits only.
template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

// The index of an interface, by number or by name.
std::optional<uint32_t> ParseScope(std::string_view text) {
  if (std::optional<uint32_t> index = ParseNumber<uint32_t>(text)) return index;
  if (text.empty() || text.size() >= IF_NAMESIZE) return std::nullopt;
  const uint32_t index = if_nametoindex(std::string(text).c_str());
  return index == 0 ? std::nullopt : std::optional<uint32_t>(index);
}

bool ParseIp(int family, std::string_view text, void* ip) {
  const std::string terminated(text);
  // To inet_pton a NUL would be the end.
  return text.find('\0') == text.npos &&
         inet_pton(family, terminated.c_str(), ip) == 1;
}

std::optional<SocketAddress> ParseIpv6(std::string_view text, uint16_t port) {
  const size_t percent = text.find('%');
  uint32_t scope = 0;
  if (percent != text.npos) {
    std::optional<uint32_t> parsed = ParseScope(text.substr(percent + 1));
    if (!parsed.has_value()) return std::nullopt;
    scope = *parsed;
  }
  in6_addr ip;
  if (!ParseIp(AF_INET6, text.substr(0, percent), &ip)) return std::nullopt;
  return SocketAddress(ip, port, scope);
}

std::optional<SocketAddress> ParseIpv4(std::string_view text, uint16_t port) {
  in_addr ip;
  if (!ParseIp(AF_INET, text, &ip)) return std::nullopt;
  return SocketAddress(ip, port);
}

}  // namespace

SocketAddress::SocketAddress(const in_addr& ip, uint16_t port) : address_{} {
  address_.v4 = {};
  address_.v4.sin_family = AF_INET;
  address_.v4.sin_port = htons(port);
  address_.v4.sin_addr = ip;
}

SocketAddress::SocketAddress(const in6_addr& ip, uint16_t port,
                             uint32_t scope_id)
    : address_{} {
  address_.v6 = {};
  address_.v6.sin6_family = AF_INET6;
  address_.v6.sin6_port = htons(port);
  address_.v6.sin6_addr = ip;
  address_.v6.sin6_scope_id = scope_id;
}

SocketAddress SocketAddress::Ipv4Loopback(uint16_t port) {
  in_addr ip;
  ip.s_addr = htonl(INADDR_LOOPBACK);
  return SocketAddress(ip, port);
}

SocketAddress SocketAddress::Ipv6Loopback(uint16_t port) {
  return SocketAddress(in6addr_loopback, port);
}

SocketAddress SocketAddress::Ipv4Any(uint16_t port) {
  return SocketAddress(in_addr{}, port);
}

SocketAddress SocketAddress::Ipv6Any(uint16_t port) {
  return SocketAddress(in6addr_any, port);
}

absl::StatusOr<SocketAddress> SocketAddress::Parse(std::string_view text) {
  constexpr std::string_view kWhat = "IP address and port";
  const size_t colon = text.rfind(':');
  if (colon == text.npos || text.ends_with(']') || text.ends_with(':')) {
    return NotA(kWhat, text, "there is no port");
  }
  const std::string_view ip = text.substr(0, colon);
  std::optional<uint16_t> port = ParseNumber<uint16_t>(text.substr(colon + 1));
  if (!port.has_value()) {
    return NotA(kWhat, text, "the port is no number from 0 to 65535");
  }
  std::optional<SocketAddress> parsed =
      InBrackets(ip) ? ParseIpv6(ip.substr(1, ip.size() - 2), *port)
                     : ParseIpv4(ip, *port);
  if (!parsed.has_value()) return NotA(kWhat, text, WhyNoIp(ip));
  return *parsed;
}

absl::StatusOr<SocketAddress> SocketAddress::ParseIp(std::string_view ip,
                                                     uint16_t port) {
  std::optional<SocketAddress> parsed = ParseIpv4(ip, port);
  if (InBrackets(ip)) {
    parsed = ParseIpv6(ip.substr(1, ip.size() - 2), port);
  } else if (!parsed.has_value()) {
    parsed = ParseIpv6(ip, port);
  }
  if (parsed.has_value()) return *parsed;
  const bool with_port = Parse(ip).ok();
  return NotA("IP address", ip,
              with_port ? "the port is given apart" : WhyNoIp(ip));
}

absl::StatusOr<SocketAddress> SocketAddress::FromSockaddr(
    const sockaddr* address, socklen_t size) {
  SocketAddress result;
  if (size >= sizeof(sockaddr_in) && address->sa_family == AF_INET) {
    std::memcpy(&result.address_.v4, address, sizeof(sockaddr_in));
    return result;
  }
  if (size >= sizeof(sockaddr_in6) && address->sa_family == AF_INET6) {
    std::memcpy(&result.address_.v6, address, sizeof(sockaddr_in6));
    return result;
  }
  return absl::InvalidArgumentError("neither an IPv4 nor an IPv6 address");
}

uint16_t SocketAddress::port() const {
  return ntohs(family() == AddressFamily::kIpv4 ? address_.v4.sin_port
                                                : address_.v6.sin6_port);
}

SocketAddress SocketAddress::WithPort(uint16_t port) const {
  SocketAddress result = *this;
  if (family() == AddressFamily::kIpv4) {
    result.address_.v4.sin_port = htons(port);
  } else {
    result.address_.v6.sin6_port = htons(port);
  }
  return result;
}

bool SocketAddress::IsLoopback() const {
  if (family() == AddressFamily::kIpv4) return ip_bytes()[0] == 127;
  return IN6_IS_ADDR_LOOPBACK(&address_.v6.sin6_addr);
}

std::string SocketAddress::IpToString() const {
  char buffer[INET6_ADDRSTRLEN];
  const int family = address_.any.sa_family;
  std::string text = inet_ntop(family, ip_bytes(), buffer, sizeof(buffer));
  if (family == AF_INET6 && address_.v6.sin6_scope_id != 0) {
    text += '%';
    text += std::to_string(address_.v6.sin6_scope_id);
  }
  return text;
}

std::string SocketAddress::ToString() const {
  std::string text = IpToString();
  if (family() == AddressFamily::kIpv6) text = '[' + text + ']';
  text += ':';
  text += std::to_string(port());
  return text;
}

bool operator==(const SocketAddress& a, const SocketAddress& b) {
  if (a.family() != b.family() || a.port() != b.port()) return false;
  if (a.family() == AddressFamily::kIpv6 &&
      a.address_.v6.sin6_scope_id != b.address_.v6.sin6_scope_id) {
    return false;
  }
  return std::memcmp(a.ip_bytes(), b.ip_bytes(), a.ip_size()) == 0;
}

const char* SocketAddress::ip_bytes() const {
  return family() == AddressFamily::kIpv4
             ? reinterpret_cast<const char*>(&address_.v4.sin_addr)
             : reinterpret_cast<const char*>(&address_.v6.sin6_addr);
}

}  // namespace weft::net
