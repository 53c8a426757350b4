// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ServerProcess: the file server as a process of its own.
//
//   ServerProcess server({"--root=" + root.path()});
//   RawClient client(server.port());
//
// Thread safety: one thread at a time.
// Lifetime: the process is killed with this object.
#ifndef WEFT_TESTS_EXAMPLES_SERVER_PROCESS_H_
#define WEFT_TESTS_EXAMPLES_SERVER_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "weft/tests/examples/temp_folder.h"

namespace weft::testing {

class ServerProcess {
 public:
  // How the process finds the signals that end it.
  enum class Signals { kDefault, kIgnored };

  // Where its standard error goes: to Errors(), or to a pipe that nobody reads.
  enum class StandardError { kFile, kStuckPipe };

  // Starts it with --port=0 (which a later flag may override) and `flags`, and
  // waits for its first line.
  explicit ServerProcess(std::vector<std::string> flags,
                         Signals signals = Signals::kDefault,
                         StandardError standard_error = StandardError::kFile);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  pid_t pid() const { return pid_; }
  // All it has written to standard output, or to standard error, so far.
  std::string Output() const { return files_.Read("out"); }
  std::string Errors() const { return files_.Read("err"); }
  // The port of its first line; 0 if it ended without one.
  int port() const { return port_; }

  void Signal(int signal) const;
  // The exit code, or 128 and the signal that ended it, once it has ended; if
  // that takes longer than `patience`, nullopt.
  std::optional<int> Wait(absl::Duration patience);

  // Kibibytes of memory in use; processor time used so far.
  long ResidentKib() const;
  absl::Duration ProcessorTime() const;

 private:
  void Start(std::vector<std::string> flags, Signals signals);
  // What the new process does between fork and exec.
  [[noreturn]] static void Execute(char** arguments, const char* out,
                                   const char* err, int err_pipe,
                                   Signals signals);
  // False if it has ended.
  bool IsRunning();

  TempFolder files_;
  int stuck_pipe_[2] = {-1, -1};
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
  int port_ = 0;
};

}  // namespace weft::testing

#endif  // WEFT_TESTS_EXAMPLES_SERVER_PROCESS_H_
