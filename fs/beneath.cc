// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm of the walk. `inside_` is the row of folders from the root (not in
// it) to the current one; `left_` are the components still to go, last first.
// A component that is a symlink is replaced by the components of its target.
// ".." pops the row; with an empty row it leads out. Each folder was opened by
// name from the one before it and without following links, so all of them are,
// or once were, inside.
#include "weft/fs/beneath.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "weft/fs/system_call.h"
#include "weft/io/fd.h"

namespace weft::fs_internal {
namespace {

// As the kernel's own limit.
constexpr int kMaxSymlinks = 40;
// A rename elsewhere can make the kernel give up; then the walk is ours.
constexpr int kMaxKernelTries = 16;

std::atomic<BeneathMethod> best_method{BeneathMethod::kBest};

// Calls fn(component) for each component until it returns false.
template <class Fn>
void ForEachComponent(std::string_view path, Fn fn) {
  while (!path.empty()) {
    const size_t end = path.find('/');
    const std::string_view component = path.substr(0, end);
    if (!component.empty() && !fn(component)) return;
    path.remove_prefix(end == path.npos ? path.size() : end + 1);
  }
}

bool LeadsOut(std::string_view path) {
  bool leads_out = path.starts_with('/');
  ForEachComponent(path, [&](std::string_view component) {
    leads_out |= component == "..";
    return !leads_out;
  });
  return leads_out;
}

// A PermissionDenied status that keeps the kernel's error for it.
absl::Status LeadsOutStatus(std::string_view path) {
  const absl::Status with_errno = PathErrno(EXDEV, "open", path);
  std::string message = "open ";
  message += path;
  message += ": leads out of the folder that it must stay in";
  absl::Status status(absl::StatusCode::kPermissionDenied, message);
  with_errno.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) {
        status.SetPayload(type, payload);
      });
  return status;
}

// openat2(2), which has no function in the C library. -1 and errno on failure.
int KernelOpen(int root, const char* path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(RetryOnSignal(
      [&] { return syscall(SYS_openat2, root, path, &how, sizeof(how)); }));
}

int KernelOpenNonBlocking(int root, const char* path, int flags, mode_t mode) {
  // openat2 refuses flags that have no effect.
  if ((flags & O_PATH) != 0) return KernelOpen(root, path, flags, mode);
  return KernelOpen(root, path, flags | O_NOCTTY | O_NONBLOCK, mode);
}

class Walk {
 public:
  Walk(int root, int flags, mode_t mode)
      : root_(root), flags_(flags), mode_(mode) {}

  // -1 and errno on failure.
  io::Fd Open(std::string_view path);

 private:
  int current() const { return inside_.empty() ? root_ : inside_.back().get(); }
  bool Push(std::string_view path);
  bool EnterFolder(const std::string& name);
  io::Fd OpenLast(const std::string& name);
  bool FollowLink(const std::string& name, int error_if_no_link);

  const int root_;
  int flags_;
  const mode_t mode_;
  std::vector<io::Fd> inside_;
  std::vector<std::string> left_;
  int symlinks_ = 0;
};

io::Fd Fail(int error) {
  errno = error;
  return io::Fd();
}

io::Fd Walk::Open(std::string_view path) {
  if (path.empty()) return Fail(ENOENT);
  if (path.size() >= PATH_MAX) return Fail(ENAMETOOLONG);
  if (!Push(path)) return io::Fd();
  while (!left_.empty()) {
    const std::string name = std::move(left_.back());
    left_.pop_back();
    if (name == "." && !left_.empty()) continue;
    if (name == "..") {
      if (inside_.empty()) return Fail(EXDEV);
      inside_.pop_back();
      continue;
    }
    if (left_.empty()) {
      io::Fd fd = OpenLast(name);
      if (fd.IsValid() || errno != 0) return fd;
    } else if (!EnterFolder(name)) {
      return io::Fd();
    }
  }
  // It ended in "..", so what is wanted is where we are.
  return io::Fd(OpenAt(current(), ".", flags_, mode_));
}

// Puts the components of `path` in front of what is left.
bool Walk::Push(std::string_view path) {
  if (path.starts_with('/')) {
    errno = EXDEV;
    return false;
  }
  std::vector<std::string> components;
  ForEachComponent(path, [&](std::string_view component) {
    components.emplace_back(component);
    return true;
  });
  // Only a folder may be followed by a slash.
  if (path.ends_with('/') && left_.empty()) {
    if ((flags_ & O_CREAT) != 0) {
      errno = EISDIR;
      return false;
    }
    flags_ |= O_DIRECTORY;
  }
  left_.insert(left_.end(), components.rbegin(), components.rend());
  return true;
}

bool Walk::EnterFolder(const std::string& name) {
  io::Fd fd(RetryOnSignal([&] {
    return openat(current(), name.c_str(),
                  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }));
  // A symlink is not a folder either.
  if (!fd.IsValid()) return errno == ENOTDIR && FollowLink(name, ENOTDIR);
  inside_.push_back(std::move(fd));
  return true;
}

// Opens the last component. Not valid with errno 0: it was a symlink, whose
// target is what is left now.
io::Fd Walk::OpenLast(const std::string& name) {
  io::Fd fd(OpenAt(current(), name.c_str(), flags_ | O_NOFOLLOW, mode_));
  int error = fd.IsValid() ? 0 : errno;
  if (fd.IsValid() && (flags_ & O_PATH) != 0) {
    // This combination opens the symlink itself.
    struct stat found;
    if (fstat(fd.get(), &found) != 0) return io::Fd();
    if (S_ISLNK(found.st_mode)) error = ELOOP;
  }
  if (error == 0) return fd;
  if (error != ELOOP && error != ENOTDIR) return Fail(error);
  if (FollowLink(name, error)) errno = 0;
  return io::Fd();
}

bool Walk::FollowLink(const std::string& name, int error_if_no_link) {
  std::string target(PATH_MAX, '\0');
  const ssize_t n =
      readlinkat(current(), name.c_str(), target.data(), target.size());
  if (n < 0) {
    if (errno == EINVAL) errno = error_if_no_link;
    return false;
  }
  if (++symlinks_ > kMaxSymlinks) {
    errno = ELOOP;
    return false;
  }
  target.resize(static_cast<size_t>(n));
  return Push(target);
}

io::Fd OpenBy(BeneathMethod method, int root, const std::string& path,
              int flags, mode_t mode) {
  // Relaxed: set by a test before it opens anything.
  if (method == BeneathMethod::kBest) {
    method = best_method.load(std::memory_order_relaxed);
  }
  for (int i = 0; method != BeneathMethod::kWalk && i < kMaxKernelTries; ++i) {
    io::Fd fd(KernelOpenNonBlocking(root, path.c_str(), flags, mode));
    if (fd.IsValid()) return fd;
    if (errno == EAGAIN) continue;
    // Sandboxes forbid calls that they do not know with EPERM.
    const bool missing = errno == ENOSYS || errno == EPERM;
    if (!missing || method == BeneathMethod::kKernel) return fd;
    break;
  }
  return Walk(root, flags, mode).Open(path);
}

}  // namespace

absl::StatusOr<io::Fd> OpenBeneath(int root, std::string_view path, int flags,
                                   mode_t mode, BeneathMethod method) {
  if (absl::Status valid = CheckPath("open", path); !valid.ok()) return valid;
  if (LeadsOut(path)) return LeadsOutStatus(path);
  io::Fd fd = OpenBy(method, root, std::string(path), flags, mode);
  if (fd.IsValid()) return fd;
  if (errno == EXDEV) return LeadsOutStatus(path);
  return PathErrno(errno, "open", path);
}

void SetBeneathMethodForTesting(BeneathMethod method) {
  // Relaxed: read by what the same test does later.
  best_method.store(method, std::memory_order_relaxed);
}

}  // namespace weft::fs_internal
