// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/content_type.h"

#include "gtest/gtest.h"

namespace http {
namespace {

TEST(ContentTypeTest, IsThatOfTheEnding) {
  EXPECT_EQ(ContentTypeOf("index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(ContentTypeOf("a.b.PNG"), "image/png");
  EXPECT_EQ(ContentTypeOf("a.zip"), "application/zip");
  EXPECT_EQ(ContentTypeOf("a.avif"), "image/avif");
}

TEST(ContentTypeTest, OfUnknownEndingsIsBytes) {
  for (const char* name : {"", "html", "Makefile", "a.", "a.unknown", "a.zzz",
                           ".gitignore", "html.x"}) {
    EXPECT_EQ(ContentTypeOf(name), "application/octet-stream") << name;
  }
}

}  // namespace
}  // namespace http
