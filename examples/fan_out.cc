// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Many pages are fetched at the same time, but not too many; and where one cannot
// be had, the others are not fetched in vain.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/select/task_group.h"
#include "weft/task/task.h"
#include "weft/timer/sleep.h"

namespace {

using Page = std::string;

// Stands for a web site. On one thread, so its counts need no lock.
struct Site {
  int broken = -1;  // the page that it does not have
  int now = 0;
  int most = 0;
  int fetched = 0;
};

// A fetch that counts as one as long as it lives.
struct Fetching {
  explicit Fetching(Site* site) : site(site) {
    site->most = std::max(site->most, ++site->now);
  }
  Fetching(const Fetching&) = delete;
  Fetching& operator=(const Fetching&) = delete;
  ~Fetching() { --site->now; }

  Site* const site;
};

weft::Task<absl::StatusOr<Page>> Fetch(Site* site, int number) {
  const Fetching fetching(site);
  co_await weft::timer::After(absl::Milliseconds(1));
  if (number == site->broken) {
    co_return absl::NotFoundError(absl::StrCat("there is no page ", number));
  }
  ++site->fetched;
  co_return Page(100, 'x');
}

weft::Task<absl::StatusOr<size_t>> TotalSize(Site* site, int pages) {
  weft::TaskGroup<absl::StatusOr<Page>> group({.limit = 8});
  for (int i = 0; i < pages; ++i) {
    // Waits for one of the tasks before; `site` outlives the group.
    auto fetch = [site, i] { return Fetch(site, i); };
    auto spawned = group.SpawnWhenRoom(std::move(fetch));
    absl::Status status = co_await spawned;
    if (!status.ok()) break;  // one has failed: Join() tells how
  }
  absl::StatusOr<std::vector<Page>> all = co_await group.Join();
  if (!all.ok()) co_return all.status();
  size_t size = 0;
  for (const Page& page : *all) size += page.size();
  co_return size;
}

}  // namespace

int main() {
  absl::StatusOr<weft::Runtime> runtime =
      weft::RuntimeBuilder().CurrentThread().EnableAll().Build();
  if (!runtime.ok()) return 1;

  Site whole;
  const absl::StatusOr<size_t> size = runtime->BlockOn(TotalSize(&whole, 100));
  if (!size.ok()) return 1;
  std::printf("%zu bytes in %d pages, at most %d at a time\n", *size,
              whole.fetched, whole.most);

  Site broken{.broken = 20};
  const absl::Status status =
      runtime->BlockOn(TotalSize(&broken, 100)).status();
  std::printf("%s; %s\n", std::string(status.message()).c_str(),
              broken.fetched < 40 && broken.now == 0
                  ? "the rest was not fetched"
                  : "all was fetched in vain");
}
