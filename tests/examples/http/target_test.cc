// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/target.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace http {
namespace {

std::string PathOf(std::string_view text) {
  const std::optional<Target> target = ParseTarget(text);
  return target.has_value() ? target->Path() : "(refused)";
}

TEST(TargetTest, SplitsThenDecodes) {
  EXPECT_EQ(PathOf("/"), ".");
  EXPECT_EQ(PathOf("/a"), "a");
  EXPECT_EQ(PathOf("/a%20b/c.txt"), "a b/c.txt");
  EXPECT_EQ(PathOf("/a/b/"), "a/b");
  EXPECT_EQ(PathOf("/..a/.b/..."), "..a/.b/...");
  EXPECT_EQ(PathOf("/back\\slash"), "back\\slash");
}

TEST(TargetTest, IgnoresQueryAndFragment) {
  EXPECT_EQ(PathOf("/a?b=/../c"), "a");
  EXPECT_EQ(PathOf("/a%3Fb"), "a?b");
  EXPECT_EQ(PathOf("/a#b"), "a");
  EXPECT_EQ(PathOf("/?"), ".");
}

TEST(TargetTest, AcceptsTheAbsoluteForm) {
  EXPECT_EQ(PathOf("http://host:80/a/b"), "a/b");
  EXPECT_EQ(PathOf("http://host"), ".");
  EXPECT_EQ(PathOf("http://host?q"), ".");
  EXPECT_EQ(PathOf("http://host/../a"), "(refused)");
}

TEST(TargetTest, RefusesOtherForms) {
  for (const char* text : {"", "*", "a", "?", "host:80", "://x/", "\\a"}) {
    EXPECT_EQ(PathOf(text), "(refused)") << text;
  }
}

TEST(TargetTest, RefusesNamesThatCouldLeadOut) {
  for (const char* text :
       {"/..", "/../", "/../etc/passwd", "/a/../../b", "/a/..", "/.", "/./a",
        "/%2e%2e/etc", "/.%2E/etc", "/%2e/a", "/a%2fb", "/..%2fetc", "/%2f",
        "/%2Fetc%2Fpasswd", "/a%00b", "/%00", "/a%"}) {
    EXPECT_EQ(PathOf(text), "(refused)") << text;
  }
}

TEST(TargetTest, DecodesOnce) {
  EXPECT_EQ(PathOf("/%252e%252e/etc"), "%2e%2e/etc");
  EXPECT_EQ(PathOf("/%252fetc"), "%2fetc");
}

TEST(TargetTest, NamesStayBelowTheRootWhateverTheSlashes) {
  EXPECT_EQ(PathOf("//etc/passwd"), "etc/passwd");
  EXPECT_EQ(PathOf("/a//b"), "a/b");
  EXPECT_EQ(PathOf("///"), ".");
}

TEST(TargetTest, EncodesItsUrl) {
  EXPECT_EQ(ParseTarget("/")->EncodedUrl(), "/");
  EXPECT_EQ(ParseTarget("/a%20b")->EncodedUrl(), "/a%20b");
  EXPECT_EQ(ParseTarget("/a/b/")->EncodedUrl(), "/a/b/");
  EXPECT_EQ(ParseTarget("/a\"b")->AsFolder().EncodedUrl(), "/a%22b/");
}

TEST(TargetTest, UrlNeverNamesAnotherServer) {
  EXPECT_EQ(ParseTarget("//evil.example")->AsFolder().EncodedUrl(),
            "/evil.example/");
  EXPECT_EQ(ParseTarget("/\\evil.example")->AsFolder().EncodedUrl(),
            "/%5Cevil.example/");
}

TEST(TargetTest, KnowsNameAndSlash) {
  EXPECT_EQ(ParseTarget("/a/b.txt")->name(), "b.txt");
  EXPECT_EQ(ParseTarget("/")->name(), "");
  EXPECT_TRUE(ParseTarget("/")->IsRoot());
  EXPECT_FALSE(ParseTarget("/a")->IsRoot());
  EXPECT_FALSE(ParseTarget("/a")->ends_in_slash());
  EXPECT_TRUE(ParseTarget("/a/")->ends_in_slash());
}

}  // namespace
}  // namespace http
