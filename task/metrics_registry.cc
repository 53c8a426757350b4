// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. One mutex guards the list of entries and, in each, the number of those
// who collect it. Who collects takes a copy of the list, then goes through it:
// counts itself in the entry unless that has been removed, calls the source without
// the mutex, and counts itself out. Who removes an entry takes it off the list, marks
// it, and waits until nobody is counted. A thread knows which entries it is inside
// of, so that it does not wait for itself.
#include "weft/task/metrics_registry.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/task/check.h"
#include "weft/task/metrics.h"

namespace weft {
namespace task_internal {

struct MetricsEntries {
  std::mutex mutex;
  // Guarded by it, and so are the entries' own.
  std::condition_variable left;  // somebody has left an entry
  std::vector<std::shared_ptr<MetricsEntry>> list;
};

class MetricsEntry {
 public:
  MetricsEntry(std::shared_ptr<MetricsEntries> entries,
               const MetricsSource& source, MetricLabels labels)
      : entries_(std::move(entries)),
        source_(source),
        labels_(std::move(labels)) {}

  void Collect(MetricsWriter& writer);
  void Remove();

 private:
  class Visit;

  const std::shared_ptr<MetricsEntries> entries_;
  const MetricsSource& source_;
  const MetricLabels labels_;
  int visitors_ = 0;      // those who are inside the source
  bool removed_ = false;  // nobody may come any more
};

namespace {

// Adds labels to what it passes on.
class LabellingWriter final : public MetricsWriter {
 public:
  LabellingWriter(MetricsWriter& inner, const MetricLabels& labels)
      : inner_(inner), labels_(labels) {}

  void Write(const MetricSample& sample) override {
    MetricLabels all = sample.labels;
    for (const MetricLabel& label : labels_) {
      const auto has_name = [&](const MetricLabel& other) {
        return other.name == label.name;
      };
      if (std::none_of(all.begin(), all.end(), has_name)) all.push_back(label);
    }
    inner_.Write({.kind = sample.kind,
                  .name = sample.name,
                  .help = sample.help,
                  .labels = all,
                  .value = sample.value,
                  .histogram = sample.histogram});
  }

 private:
  MetricsWriter& inner_;
  const MetricLabels& labels_;
};

}  // namespace

// The calling thread is inside the entry's source while it exists.
class MetricsEntry::Visit {
 public:
  explicit Visit(MetricsEntry& entry)
      : entry_(entry), outer_(std::exchange(Innermost(), this)) {}
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    Innermost() = outer_;
    const std::lock_guard lock(entry_.entries_->mutex);
    --entry_.visitors_;
    entry_.entries_->left.notify_all();
  }

  static bool IsInside(const MetricsEntry& entry) {
    for (const Visit* visit = Innermost(); visit != nullptr;
         visit = visit->outer_) {
      if (&visit->entry_ == &entry) return true;
    }
    return false;
  }

 private:
  [[gnu::noinline]] static Visit*& Innermost() {
    constinit static thread_local Visit* innermost = nullptr;
    return innermost;
  }

  MetricsEntry& entry_;
  Visit* const outer_;
};

void MetricsEntry::Collect(MetricsWriter& writer) {
  {
    const std::lock_guard lock(entries_->mutex);
    if (removed_) return;
    ++visitors_;
  }
  const Visit visit(*this);
  LabellingWriter labelling(writer, labels_);
  source_.Collect(labelling);
}

void MetricsEntry::Remove() {
  WEFT_CHECK(!Visit::IsInside(*this),
             "a MetricsRegistration was dropped inside Collect() of its own "
             "source: keep it until Collect() has returned");
  std::unique_lock lock(entries_->mutex);
  removed_ = true;
  std::erase_if(entries_->list,
                [this](const auto& entry) { return entry.get() == this; });
  entries_->left.wait(lock, [this] { return visitors_ == 0; });
}

}  // namespace task_internal

MetricsRegistration::~MetricsRegistration() {
  if (entry_ != nullptr) entry_->Remove();
}

MetricsRegistry::MetricsRegistry()
    : entries_(std::make_shared<task_internal::MetricsEntries>()) {}

MetricsRegistry::~MetricsRegistry() {
  // Entries and the list own each other.
  const std::lock_guard lock(entries_->mutex);
  entries_->list.clear();
}

MetricsRegistration MetricsRegistry::Add(const MetricsSource& source,
                                         MetricLabels labels) {
  auto entry = std::make_shared<task_internal::MetricsEntry>(entries_, source,
                                                             std::move(labels));
  const std::lock_guard lock(entries_->mutex);
  entries_->list.push_back(entry);
  return MetricsRegistration(std::move(entry));
}

void MetricsRegistry::Collect(MetricsWriter& writer) const {
  std::vector<std::shared_ptr<task_internal::MetricsEntry>> list;
  {
    const std::lock_guard lock(entries_->mutex);
    list = entries_->list;
  }
  for (const auto& entry : list) entry->Collect(writer);
}

}  // namespace weft
