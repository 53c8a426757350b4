// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace weft::runtime {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// CPUs for `quota` per `period`, both in microseconds; 0 for no limit.
int Limit(long quota, long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

int LimitOfVersion2(const std::string& folder) {
  std::istringstream text(ReadAll(folder + "/cpu.max"));
  long quota = 0;  // stays 0 for the word "max"
  long period = 0;
  if (!(text >> quota >> period)) return 0;
  return Limit(quota, period);
}

int LimitOfVersion1(const std::string& folder) {
  std::istringstream quota_text(ReadAll(folder + "/cpu.cfs_quota_us"));
  std::istringstream period_text(ReadAll(folder + "/cpu.cfs_period_us"));
  long quota = 0;
  long period = 0;
  if (!(quota_text >> quota) || !(period_text >> period)) return 0;
  return Limit(quota, period);
}

int Tighter(int a, int b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

bool HasController(const std::string& controllers, const std::string& name) {
  std::istringstream list(controllers);
  for (std::string item; std::getline(list, item, ',');) {
    if (item == name) return true;
  }
  return false;
}

// The tightest limit from `path`, which starts with a slash, up to the mount. A
// process in a namespace of its own sees a path that may not exist there.
int LimitAlong(int (*limit)(const std::string&), const std::string& mount,
               std::string path) {
  int result = limit(mount);
  while (path.size() > 1) {
    result = Tighter(result, limit(mount + path));
    path.resize(path.rfind('/'));
  }
  return result;
}

}  // namespace

int CgroupCpuLimit(const std::string& membership, const std::string& mount) {
  int result = 0;
  std::istringstream lines(membership);
  // Each line is "hierarchy:controllers:path"; version 2 is hierarchy 0.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (line.compare(0, first, "0") == 0 && controllers.empty()) {
      result = Tighter(result, LimitAlong(LimitOfVersion2, mount, path));
    } else if (HasController(controllers, "cpu")) {
      result =
          Tighter(result, LimitAlong(LimitOfVersion1, mount + "/cpu", path));
    }
  }
  return result;
}

int AvailableCpus() {
  int cpus = 0;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    cpus = CPU_COUNT(&mask);
  } else {
    // More CPUs than the mask can hold.
    cpus = static_cast<int>(std::thread::hardware_concurrency());
  }
  cpus = Tighter(
      cpus, CgroupCpuLimit(ReadAll("/proc/self/cgroup"), "/sys/fs/cgroup"));
  return std::max(cpus, 1);
}

}  // namespace weft::runtime
