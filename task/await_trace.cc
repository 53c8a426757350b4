// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/await_trace.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/task/source_location.h"

namespace weft {
namespace {

std::string Describe(const AwaitTrace::Line& line) {
  if (!line.what.empty()) {
    return line.number == 0
               ? std::string(line.what)
               : absl::StrCat(std::string(line.what), " ", line.number);
  }
  if (line.at.line() == 0) {
    return line.runs ? "a coroutine that runs, and has come to no co_await yet"
                     : "a coroutine that has not started";
  }
  return absl::StrCat(std::string(ShortFunctionName(line.at.function_name())),
                      line.runs ? " runs, last at " : " at ",
                      FileAndLine(line.at));
}

}  // namespace

AwaitTrace::Line& AwaitTrace::NextLine() {
  left_out_ += count_ == kMaxLines;
  Line& line =
      count_ == kMaxLines ? unused_ : lines_[static_cast<size_t>(count_++)];
  line = Line();
  line.depth = depth_;
  return line;
}

void AwaitTrace::AddAwait(const SourceLocation& at, bool runs) {
  Line& line = NextLine();
  line.at = at;
  line.runs = runs;
}

void AwaitTrace::AddFuture(std::string_view what, uint64_t number) {
  Line& line = NextLine();
  line.what = what;
  line.number = number;
}

std::vector<AwaitTrace::Line> AwaitTrace::Copy() const {
  std::vector<Line> copy(lines().begin(), lines().end());
  if (left_out_ > 0) {
    Line& more = copy.emplace_back();
    more.what = "lines that are left out:";
    more.number = static_cast<uint64_t>(left_out_);
  }
  return copy;
}

std::string AwaitTrace::ToString(std::span<const Line> lines,
                                 std::string_view indent) {
  std::string text;
  for (const Line& line : lines) {
    absl::StrAppend(&text, std::string(indent),
                    std::string(2 * static_cast<size_t>(line.depth), ' '),
                    Describe(line), "\n");
  }
  return text;
}

std::string AwaitTrace::ToString(std::string_view indent) const {
  return ToString(Copy(), indent);
}

std::string_view ShortFunctionName(std::string_view function) {
  constexpr std::string_view kAnonymous[] = {"(anonymous namespace)::",
                                             "{anonymous}::"};
  size_t begin = 0;
  size_t end = 0;
  int inside = 0;  // of how many "<...>"
  for (; end < function.size(); ++end) {
    const char c = function[end];
    inside += (c == '<') - (c == '>');
    if (inside > 0) continue;
    for (const std::string_view name : kAnonymous) {
      if (function.substr(end).starts_with(name)) begin = end += name.size();
    }
    if (end == function.size() || function[end] == '(')
      break;  // of a lambda: of the function it is in
    if (c == ' ' || c == '*' || c == '&') begin = end + 1;
  }
  return function.substr(begin, end - begin);
}

}  // namespace weft
