// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How many CPUs this process may use.
//
// The smaller of the affinity mask and the CPU quota of the process's control
// group, since a container is limited by the second and sees the machine by the
// first. Quotas are read as cgroups(7) describes: cpu.max in version 2, where
// the tightest one on the way to the root counts, and cpu.cfs_quota_us in
// version 1.
//
// Thread safety: any thread.
#ifndef WEFT_RUNTIME_CPU_COUNT_H_
#define WEFT_RUNTIME_CPU_COUNT_H_

#include <string>

namespace weft::runtime {

// At least 1.
int AvailableCpus();

// The CPUs that a quota allows, rounded up, or 0 where there is none.
// `membership` is the content of /proc/self/cgroup; `mount` is where the
// control group file systems are mounted, /sys/fs/cgroup.
int CgroupCpuLimit(const std::string& membership, const std::string& mount);

}  // namespace weft::runtime

#endif  // WEFT_RUNTIME_CPU_COUNT_H_
