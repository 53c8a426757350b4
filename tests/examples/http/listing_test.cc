// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/listing.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ListingTest, EscapesForHtml) {
  EXPECT_EQ(HtmlEscape("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
}

TEST(ListingTest, ShowsFoldersFirstByName) {
  const std::string html = ListingHtml(
      *ParseTarget("/x/"),
      {{"b", false}, {"a", false}, {"z", true}, {"B", false}, {"y", true}});
  EXPECT_THAT(html, HasSubstr("<li><a href=\"../\">../</a></li>\n"
                              "<li><a href=\"y/\">y/</a></li>\n"
                              "<li><a href=\"z/\">z/</a></li>\n"
                              "<li><a href=\"B\">B</a></li>\n"
                              "<li><a href=\"a\">a</a></li>\n"
                              "<li><a href=\"b\">b</a></li>\n"));
}

TEST(ListingTest, EncodesLinksAndEscapesText) {
  const std::string html =
      ListingHtml(*ParseTarget("/%3Ci%3E/"), {{"<b>&\"x y\"%.txt", false}});
  EXPECT_THAT(html, HasSubstr("<title>Index of /&lt;i&gt;/</title>"));
  EXPECT_THAT(html, HasSubstr("href=\"%3Cb%3E%26%22x%20y%22%25.txt\""));
  EXPECT_THAT(html, HasSubstr(">&lt;b&gt;&amp;&quot;x y&quot;%.txt</a>"));
  EXPECT_THAT(html, Not(HasSubstr("<i>")));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
}

TEST(ListingTest, LinksOfNamesLikeSchemesStayRelative) {
  const std::string html =
      ListingHtml(*ParseTarget("/"), {{"javascript:alert(1)", false}});
  EXPECT_THAT(html, HasSubstr("href=\"javascript%3Aalert%281%29\""));
}

TEST(ListingTest, RootHasNoParent) {
  const std::string html = ListingHtml(*ParseTarget("/"), {});
  EXPECT_THAT(html, HasSubstr("<title>Index of /</title>"));
  EXPECT_THAT(html, Not(HasSubstr("../")));
}

}  // namespace
}  // namespace http
