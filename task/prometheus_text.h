// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PrometheusText: metrics in the text format that Prometheus scrapes.
//
//   std::string body = PrometheusText(runtime.metrics());
//
// The samples of a family stand together below one HELP and one TYPE line, also
// where several sources wrote them; families are in the order in which they first
// came, and the first help text counts. Serve the text over HTTP with
// kPrometheusContentType. The format is version 0.0.4, as specified at
// https://prometheus.io/docs/instrumenting/exposition_formats/.
//
// Thread safety: any thread, at any time.
#ifndef WEFT_TASK_PROMETHEUS_TEXT_H_
#define WEFT_TASK_PROMETHEUS_TEXT_H_

#include <string>
#include <string_view>

#include "weft/task/metrics.h"

namespace weft {

// The value of the header Content-Type.
inline constexpr std::string_view kPrometheusContentType =
    "text/plain; version=0.0.4; charset=utf-8";

// What `source`, mostly a MetricsRegistry, collects now.
// CHECK-fails for what Prometheus would refuse, and with it all of the text: a name
// of other characters than [a-zA-Z0-9_:] (in labels no ':'), or one that begins
// with a digit, or a label "le" or one that begins with "__"; a counter whose name
// does not end in _total; a family of two kinds, or with the name of a histogram's
// _bucket, _sum or _count; two samples of a family with the same labels (give each
// registration a label of its own). What is no UTF-8 in a text is replaced by U+FFFD.
std::string PrometheusText(const MetricsSource& source);

}  // namespace weft

#endif  // WEFT_TASK_PROMETHEUS_TEXT_H_
