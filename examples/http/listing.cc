// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/listing.h"

#include <algorithm>
#include <tuple>

#include "weft/examples/http/percent.h"

namespace http {

std::string HtmlEscape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ListingHtml(const Target& folder,
                        std::vector<ListingEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const ListingEntry& a, const ListingEntry& b) {
              return std::tie(b.is_folder, a.name) <
                     std::tie(a.is_folder, b.name);
            });
  const std::string title =
      "Index of " +
      HtmlEscape(folder.IsRoot() ? "/" : "/" + folder.Path() + "/");
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<title>" +
      title + "</title></head>\n<body>\n<h1>" + title + "</h1>\n<ul>\n";
  if (!folder.IsRoot()) html += "<li><a href=\"../\">../</a></li>\n";
  for (const ListingEntry& entry : entries) {
    const char* slash = entry.is_folder ? "/" : "";
    html += "<li><a href=\"" + PercentEncode(entry.name) + slash + "\">" +
            HtmlEscape(entry.name) + slash + "</a></li>\n";
  }
  html += "</ul>\n</body>\n</html>\n";
  return html;
}

}  // namespace http
