// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/simulated_wire.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/net/simulated_network_options.h"
#include "weft/task/check.h"
#include "weft/task/random.h"

namespace weft::net_internal {
namespace {

// The first port of IANA's dynamic range (RFC 6335, 6).
constexpr uint16_t kFirstPickedPort = 49152;

// Time passes only when nothing else can happen. So that packets arrive while tasks
// run, not only when all of them wait, many must be due at the same moment: there are
// so many different latencies, and not one for each nanosecond.
constexpr uint32_t kLatencies = 10;

}  // namespace

std::string SimulatedAddress::ToString() const {
  return absl::StrCat(host, ":", port);
}

SimulatedWire::Attachment::Attachment(SimulatedWire& wire)
    : wire_(&wire), number_(++wire.attached_) {
  wire.attachments_.emplace(number_, this);
}

SimulatedWire::Attachment::~Attachment() {
  if (wire_ != nullptr) wire_->attachments_.erase(number_);
}

SimulatedWire::SimulatedWire(DeterministicExecutor& executor,
                             const net::SimulatedNetworkOptions& options)
    : options_(options),
      calendar_(executor),
      random_(executor.random().Next()) {
  WEFT_CHECK(options_.window > 0, "the window of a simulated network is empty");
  WEFT_CHECK(
      absl::ZeroDuration() <= options_.latency_min &&
          options_.latency_min <= options_.latency_max &&
          options_.latency_max < absl::InfiniteDuration(),
      "the latencies of a simulated network must be finite and in order");
  WEFT_CHECK(options_.retransmit > absl::ZeroDuration(),
             "a simulated network cannot send again in no time");
}

SimulatedWire::~SimulatedWire() {
  ForEach([this](Attachment& attachment) {
    attachments_.erase(attachment.number_);
    attachment.wire_ = nullptr;
    attachment.OnNetworkGone();
  });
}

void SimulatedWire::ForEach(absl::FunctionRef<void(Attachment&)> fn) {
  std::vector<uint64_t> numbers;
  for (const auto& [number, attachment] : attachments_) {
    numbers.push_back(number);
  }
  for (const uint64_t number : numbers) {
    const auto it = attachments_.find(number);
    if (it != attachments_.end()) fn(*it->second);
  }
}

void SimulatedWire::Cut(const std::string& from, const std::string& to) {
  cuts_.emplace(from, to);
}

void SimulatedWire::Mend(const std::string& from, const std::string& to) {
  cuts_.erase({from, to});
}

void SimulatedWire::Crash(std::string_view host) {
  ForEach([host](Attachment& attachment) { attachment.OnCrash(host); });
}

uint16_t SimulatedWire::PickPort(const std::string& host) {
  const auto [it, is_first] = picked_.emplace(host, kFirstPickedPort);
  if (!is_first) {
    const bool was_last = it->second == std::numeric_limits<uint16_t>::max();
    it->second = was_last ? kFirstPickedPort : it->second + 1;
  }
  return it->second;
}

absl::Duration DrawLatency(Random& random,
                           const net::SimulatedNetworkOptions& options) {
  const absl::Duration span = options.latency_max - options.latency_min;
  return options.latency_min +
         span * random.Below(kLatencies) / (kLatencies - 1);
}

bool DrawChance(Random& random, double probability) {
  // The upper 53 bits, as many as a double has, are a number in [0, 1).
  return static_cast<double>(random.Next() >> 11) * 0x1p-53 < probability;
}

}  // namespace weft::net_internal
