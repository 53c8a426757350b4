// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/socket_address.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/status_matchers.h"

namespace weft::net {
namespace {

using std::string_view_literals::operator""sv;
using testing::AllOf;
using testing::HasSubstr;

TEST(SocketAddressTest, IsNowhereAsMade) {
  EXPECT_EQ(SocketAddress().ToString(), "0.0.0.0:0");
  EXPECT_EQ(SocketAddress(), SocketAddress::Ipv4Any(0));
}

TEST(SocketAddressTest, ReadsWhatItWrites) {
  for (const std::string_view text :
       {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80",
        "[::]:0", "[2001:db8::1:2]:443", "[fe80::1%2]:80",
        "[::ffff:1.2.3.4]:5"}) {
    absl::StatusOr<SocketAddress> parsed = SocketAddress::Parse(text);
    ASSERT_THAT(parsed, IsOk()) << text;
    EXPECT_EQ(parsed->ToString(), text);
    EXPECT_THAT(SocketAddress::FromSockaddr(parsed->data(), parsed->size()),
                IsOkAndHolds(*parsed));
  }
}

TEST(SocketAddressTest, RefusesWhatIsNotOne) {
  for (const std::string_view text : {""sv,
                                      ":"sv,
                                      ":80"sv,
                                      "127.0.0.1"sv,
                                      "127.0.0.1:"sv,
                                      "127.0.0.1:65536"sv,
                                      "127.0.0.1:-1"sv,
                                      "127.0.0.1:+1"sv,
                                      "127.0.0.1: 1"sv,
                                      "127.0.0.1:1x"sv,
                                      "127.1:80"sv,
                                      "127.0.0.256:80"sv,
                                      "0x7f.0.0.1:80"sv,
                                      " 127.0.0.1:80"sv,
                                      "localhost:80"sv,
                                      "::1:80"sv,
                                      "[::1]"sv,
                                      "[::1]:"sv,
                                      "[::1"sv,
                                      "::1]:80"sv,
                                      "[127.0.0.1]:80"sv,
                                      "[]:80"sv,
                                      "[::1%]:80"sv,
                                      "[::1%nosuchif]:80"sv,
                                      "[::1%99999999999]:80"sv,
                                      "127.0.0.1\0:80"sv,
                                      "[::1\0]:80"sv,
                                      "1.2.3.4:80\0"sv}) {
    EXPECT_THAT(SocketAddress::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

TEST(SocketAddressTest, SaysWhatIsWrong) {
  for (const auto& [text, why] :
       std::vector<std::pair<std::string_view, const char*>>{
           {"", "no port"},
           {"127.0.0.1", "no port"},
           {"127.0.0.1:", "no port"},
           {"[::1]", "no port"},
           {"127.0.0.1:http", "the port is no number"},
           {"127.0.0.1:65536", "from 0 to 65535"},
           {":80", "no address"},
           {"[::1:80", "bracket is missing"},
           {"::1]:80", "bracket is missing"},
           {"::1", "stands in brackets"},
           {"[127.0.0.1]:80", "no IPv6 address"},
           {"[fe80::1%nosuchif]:80", "interface of this machine"},
           {"localhost:80", "names are not looked up"},
           {"127.0.0.256:80", "four numbers"}}) {
    EXPECT_THAT(SocketAddress::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("IP address and port"),
                               HasSubstr(std::string(text)), HasSubstr(why))))
        << text;
  }
  EXPECT_THAT(SocketAddress::ParseIp("1.2.3.4:80", 80),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the port is given apart")));
  EXPECT_THAT(SocketAddress::ParseIp("localhost", 80),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("names are not looked up")));
}

TEST(SocketAddressTest, ReadsAddressesWithoutPort) {
  EXPECT_THAT(SocketAddress::ParseIp("127.0.0.1", 80),
              IsOkAndHolds(SocketAddress::Ipv4Loopback(80)));
  EXPECT_THAT(SocketAddress::ParseIp("::1", 80),
              IsOkAndHolds(SocketAddress::Ipv6Loopback(80)));
  EXPECT_THAT(SocketAddress::ParseIp("[::1]", 80),
              IsOkAndHolds(SocketAddress::Ipv6Loopback(80)));
  for (const std::string_view text :
       {"", "localhost", "1.2.3.4:80", "[::1]:80", "[1.2.3.4]", "[]", "::1%"}) {
    EXPECT_THAT(SocketAddress::ParseIp(text, 80),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

TEST(SocketAddressTest, FindsInterfacesByName) {
  EXPECT_THAT(SocketAddress::Parse("[fe80::1%lo]:80"),
              IsOkAndHolds(*SocketAddress::Parse("[fe80::1%1]:80")));
}

TEST(SocketAddressTest, KnowsItsParts) {
  const SocketAddress four = SocketAddress::Ipv4Loopback(80);
  EXPECT_EQ(four.family(), AddressFamily::kIpv4);
  EXPECT_EQ(four.port(), 80);
  EXPECT_EQ(four.WithPort(81).ToString(), "127.0.0.1:81");
  EXPECT_EQ(four.IpToString(), "127.0.0.1");
  EXPECT_TRUE(four.IsLoopback());
  EXPECT_TRUE(SocketAddress::Parse("127.9.9.9:1")->IsLoopback());
  EXPECT_FALSE(SocketAddress::Ipv4Any(80).IsLoopback());

  const SocketAddress six = SocketAddress::Ipv6Loopback(80);
  EXPECT_EQ(six.family(), AddressFamily::kIpv6);
  EXPECT_EQ(six.port(), 80);
  EXPECT_EQ(six.WithPort(81).ToString(), "[::1]:81");
  EXPECT_EQ(six.IpToString(), "::1");
  EXPECT_TRUE(six.IsLoopback());
  EXPECT_FALSE(SocketAddress::Ipv6Any(80).IsLoopback());
}

TEST(SocketAddressTest, EqualOnesHashEqually) {
  const SocketAddress a = *SocketAddress::Parse("[fe80::1%2]:80");
  EXPECT_EQ(a, *SocketAddress::Parse("[fe80::1%2]:80"));
  EXPECT_EQ(absl::HashOf(a),
            absl::HashOf(*SocketAddress::Parse("[fe80::1%2]:80")));
  for (const std::string_view other :
       {"[fe80::1%3]:80", "[fe80::1%2]:81", "[fe80::2%2]:80", "1.2.3.4:80"}) {
    EXPECT_FALSE(a == *SocketAddress::Parse(other)) << other;
  }
}

TEST(SocketAddressTest, RefusesOtherFamilies) {
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  EXPECT_THAT(SocketAddress::FromSockaddr(
                  reinterpret_cast<const sockaddr*>(&local), sizeof(local)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const SocketAddress four;
  EXPECT_THAT(SocketAddress::FromSockaddr(four.data(), 4),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SocketAddressTest, RandomOnesSurviveTheirText) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    in6_addr ip6;
    for (uint8_t& byte : ip6.s6_addr) {
      byte = random() % 3 == 0 ? static_cast<uint8_t>(random()) : 0;
    }
    in_addr ip4;
    ip4.s_addr = static_cast<uint32_t>(random());
    const auto port = static_cast<uint16_t>(random());
    const SocketAddress six(ip6, port, random() % 4);
    const SocketAddress four(ip4, port);
    EXPECT_THAT(SocketAddress::Parse(six.ToString()), IsOkAndHolds(six));
    EXPECT_THAT(SocketAddress::Parse(four.ToString()), IsOkAndHolds(four));
  }
}

}  // namespace
}  // namespace weft::net
