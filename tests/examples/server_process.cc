// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/examples/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "weft/task/check.h"

namespace weft::testing {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(2);

std::string ServerPath() {
  const char* path = getenv("HTTP_FILE_SERVER");
  return path != nullptr ? path : "examples/http_file_server";
}

// Waits a little; what is waited for is another process.
void Tick() {
  poll(nullptr, 0, static_cast<int>(kTick / absl::Milliseconds(1)));
}

void Redirect(const char* path, int to) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd < 0 || dup2(fd, to) < 0) _exit(126);
}

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> flags, Signals signals,
                             StandardError standard_error) {
  if (standard_error == StandardError::kStuckPipe) {
    WEFT_CHECK(pipe2(stuck_pipe_, O_CLOEXEC) == 0, "no pipe");
  }
  Start(std::move(flags), signals);
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (Output().find('\n') == std::string::npos && IsRunning()) {
    WEFT_CHECK(absl::Now() < deadline, "the server does not start");
    Tick();
  }
  const std::string line = Output().substr(0, Output().find('\n') + 1);
  char end = 0;
  if (sscanf(line.c_str(), "listening on http://127.0.0.1:%d/%c", &port_,
             &end) != 2 ||
      end != '\n') {
    port_ = 0;
  }
}

void ServerProcess::Start(std::vector<std::string> flags, Signals signals) {
  const std::string path = ServerPath();
  flags.insert(flags.begin(), {path, "--port=0"});
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  arguments.push_back(nullptr);
  const std::string out = files_.PathOf("out");
  const std::string err = files_.PathOf("err");

  pid_ = fork();
  WEFT_CHECK(pid_ >= 0, "fork failed");
  if (pid_ == 0) {
    Execute(arguments.data(), out.c_str(), err.c_str(), stuck_pipe_[1],
            signals);
  }
}

void ServerProcess::Execute(char** arguments, const char* out, const char* err,
                            int err_pipe, Signals signals) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM}) {
    ::signal(signal, signals == Signals::kIgnored ? SIG_IGN : SIG_DFL);
  }
  Redirect(out, STDOUT_FILENO);
  if (err_pipe >= 0) {
    dup2(err_pipe, STDERR_FILENO);
  } else {
    Redirect(err, STDERR_FILENO);
  }
  execv(arguments[0], arguments);
  _exit(127);
}

ServerProcess::~ServerProcess() {
  for (const int fd : stuck_pipe_) {
    if (fd >= 0) close(fd);
  }
  if (!IsRunning()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void ServerProcess::Signal(int signal) const { kill(pid_, signal); }

bool ServerProcess::IsRunning() {
  int status = 0;
  if (exit_code_.has_value()) return false;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

std::optional<int> ServerProcess::Wait(absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  while (IsRunning() && absl::Now() < deadline) Tick();
  return exit_code_;
}

long ServerProcess::ResidentKib() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; file >> word;) {
    long kib = 0;
    if (word == "VmRSS:" && file >> kib) return kib;
  }
  return -1;
}

absl::Duration ServerProcess::ProcessorTime() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  std::getline(file, text);
  // After the name in brackets: the 12th and 13th field, in clock ticks.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return absl::Seconds(user + system) / sysconf(_SC_CLK_TCK);
}

}  // namespace weft::testing
