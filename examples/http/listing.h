// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The page that lists a folder.
//
// Thread safety: any thread.
#ifndef WEFT_EXAMPLES_HTTP_LISTING_H_
#define WEFT_EXAMPLES_HTTP_LISTING_H_

#include <string>
#include <string_view>
#include <vector>

#include "weft/examples/http/target.h"

namespace http {

struct ListingEntry {
  std::string name;
  bool is_folder = false;
};

// `text` as it stands in an HTML document, also inside of quotes.
std::string HtmlEscape(std::string_view text);

// An HTML page with a link to each entry, folders first, by name. Links are
// percent-encoded and relative, text is escaped.
std::string ListingHtml(const Target& folder,
                        std::vector<ListingEntry> entries);

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_LISTING_H_
