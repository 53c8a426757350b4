// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/prometheus_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "weft/task/check.h"
#include "weft/task/metrics.h"

namespace weft {
namespace {

using Kind = MetricSample::Kind;

bool IsName(std::string_view name, bool colons) {
  const auto may_stand = [colons](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           (colons && c == ':');
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), may_stand) &&
         !absl::ascii_isdigit(static_cast<unsigned char>(name[0]));
}

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return "counter";
    case Kind::kGauge:
      return "gauge";
    default:
      return "histogram";
  }
}

// The shortest text that gives the same number back.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value);
  return std::string(digits, end.ptr);
}

// How many bytes of the text's beginning are a character in UTF-8; 0: none is one.
// (RFC 3629, section 4.)
size_t CharacterIn(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto between = [](unsigned value, unsigned least, unsigned most) {
    return least <= value && value <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = between(first, 0xc2, 0xdf)   ? 2
                      : between(first, 0xe0, 0xef) ? 3
                      : between(first, 0xf0, 0xf4) ? 4
                                                   : 0;
  // Neither more bytes than are needed, nor a surrogate, nor beyond U+10FFFF.
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (size == 0 || !between(byte(1), least, most)) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (!between(byte(i), 0x80, 0xbf)) return 0;
  }
  return size;
}

// With U+FFFD for each byte that is in no character.
std::string InUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t size = CharacterIn(text);
    absl::StrAppend(&out, size != 0 ? std::string(text.substr(0, size))
                                    : std::string("\xef\xbf\xbd"));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

// `quotes`: in a label's value, which stands in them.
std::string Escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : InUtf8(text)) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (quotes && c == '"')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

// name="value" for each label, in the order of names, and commas between. To
// Prometheus a label without a value is none.
std::string LabelText(MetricLabels labels) {
  const auto by_name = [](const MetricLabel& a, const MetricLabel& b) {
    return a.name < b.name;
  };
  std::sort(labels.begin(), labels.end(), by_name);
  std::string out;
  std::string_view previous;
  for (const MetricLabel& label : labels) {
    WEFT_CHECK(
        IsName(label.name, /*colons=*/false) && label.name != "le" &&
            !label.name.starts_with("__"),
        "a metric has a label with a name that Prometheus does not take: "
        "use letters, digits and '_'");
    WEFT_CHECK(label.name != previous, "a metric has two labels of one name");
    previous = label.name;
    if (label.value.empty()) continue;
    absl::StrAppend(&out, out.empty() ? "" : ",", label.name, "=\"",
                    Escaped(label.value, /*quotes=*/true), "\"");
  }
  return out;
}

class TextWriter final : public MetricsWriter {
 public:
  void Write(const MetricSample& sample) override {
    Family& family = FamilyOf(sample);
    const std::string labels = LabelText(sample.labels);
    WEFT_CHECK(family.seen.insert(labels).second,
               "two samples of one metric have the same labels: give each "
               "registration a label of its own");
    if (sample.kind == Kind::kHistogram) {
      AddHistogram(family, labels, *sample.histogram);
    } else {
      AddLine(family, "", labels, sample.value);
    }
  }

  std::string Text() const {
    std::string text;
    for (const Family& family : families_) {
      absl::StrAppend(&text, "# HELP ", family.name, " ",
                      Escaped(family.help, /*quotes=*/false), "\n# TYPE ",
                      family.name, " ", std::string(NameOf(family.kind)), "\n",
                      family.lines);
    }
    return text;
  }

 private:
  struct Family {
    std::string name;
    std::string help;
    Kind kind;
    std::set<std::string> seen;  // the labels of its samples
    std::string lines;
  };

  Family& FamilyOf(const MetricSample& sample) {
    const auto [place, is_new] =
        by_name_.try_emplace(std::string(sample.name), families_.size());
    if (is_new) {
      WEFT_CHECK(IsName(sample.name, /*colons=*/true),
                 "a metric has a name that Prometheus does not take: use "
                 "letters, digits, '_' and ':'");
      WEFT_CHECK(
          sample.kind != Kind::kCounter || sample.name.ends_with("_total"),
          "a counter has a name that does not end in _total");
      CheckIsFree(sample);
      families_.push_back({.name = std::string(sample.name),
                           .help = std::string(sample.help),
                           .kind = sample.kind,
                           .seen = {},
                           .lines = {}});
    }
    Family& family = families_[place->second];
    WEFT_CHECK(family.kind == sample.kind,
               "two metrics of different kinds have the same name");
    return family;
  }

  // A histogram has several names in the text.
  void CheckIsFree(const MetricSample& sample) {
    std::vector<std::string> names = {std::string(sample.name)};
    if (sample.kind == Kind::kHistogram) {
      for (const char* suffix : {"_bucket", "_sum", "_count"}) {
        names.push_back(absl::StrCat(names[0], suffix));
      }
    }
    for (std::string& name : names) {
      WEFT_CHECK(
          names_.insert(std::move(name)).second,
          "a metric has the name of a histogram's _bucket, _sum or _count");
    }
  }

  static void AddLine(Family& family, std::string_view suffix,
                      const std::string& labels, double value) {
    absl::StrAppend(&family.lines, family.name, std::string(suffix));
    if (!labels.empty()) absl::StrAppend(&family.lines, "{", labels, "}");
    absl::StrAppend(&family.lines, " ", Number(value), "\n");
  }

  // Buckets count all values up to their bounds; the last bound is +Inf.
  static void AddHistogram(Family& family, const std::string& labels,
                           const HistogramSnapshot& histogram) {
    uint64_t count = 0;
    const auto add_bucket = [&](double upper) {
      AddLine(family, "_bucket",
              absl::StrCat(labels, labels.empty() ? "" : ",", "le=\"",
                           Number(upper), "\""),
              static_cast<double>(count));
    };
    for (const HistogramSnapshot::Bucket& bucket : histogram.buckets) {
      count += bucket.count;
      if (!std::isinf(bucket.upper)) add_bucket(bucket.upper);
    }
    add_bucket(HUGE_VAL);
    AddLine(family, "_sum", labels, histogram.sum);
    AddLine(family, "_count", labels, static_cast<double>(count));
  }

  std::deque<Family> families_;  // in the order of their first samples
  std::map<std::string, size_t> by_name_;  // where each is
  std::set<std::string> names_;            // of all series
};

}  // namespace

std::string PrometheusText(const MetricsSource& source) {
  TextWriter writer;
  source.Collect(writer);
  return writer.Text();
}

}  // namespace weft
