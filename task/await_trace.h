// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AwaitTrace: what a task waits for, coroutine by coroutine.
//
//   Serve at server.cc:41
//     ReadRequest at server.cc:20
//       net::TcpStream::ReadFuture
//
// Outermost first. A line of a coroutine names the co_await that it has come to;
// the last is of what is not a coroutine. Where a future waits for several, each
// of these has lines of its own, one step further in.
//
// A future that holds others takes part by a member
//
//   void Trace(AwaitTrace& trace) const;
//
// which adds lines and calls TraceFuture() for those it holds. A future without is
// one line: its type. Trace() allocates nothing, takes no lock, runs no code of the
// future's: a signal handler may call it in the middle of the future's poll, by the
// thread that polls it.
//
// Thread safety: none. Whoever traces a future has the right to poll it.
// Lifetime: what lines refer to is constant.
#ifndef WEFT_TASK_AWAIT_TRACE_H_
#define WEFT_TASK_AWAIT_TRACE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/task/source_location.h"

namespace weft {

class AwaitTrace {
 public:
  // What comes further inside is counted only.
  static constexpr int kMaxLines = 64;

  struct Line {
    int depth = 0;          // how far inside
    std::string_view what;  // the type of a future; empty for a coroutine
    uint64_t number = 0;    // of the task that is waited for, or 0
    SourceLocation at;      // of a co_await; line 0: not started
    bool runs = false;      // the innermost coroutine of one that is polled
  };

  // Adds the line of a coroutine, inside of those that opened a Scope.
  void AddAwait(const SourceLocation& at, bool runs);
  // The same for another future. `what` must be constant.
  void AddFuture(std::string_view what, uint64_t number = 0);

  // For a future that keeps the waker of the task in what it gives as a waker to
  // those it holds, if none of these has that: so nobody but the task has it. Not where
  // what polls that future gives it a waker of its own.
  void AddOwnWaker() { ++own_wakers_; }
  int own_wakers() const { return own_wakers_; }

  // Lines added while it exists are one step further inside.
  class Scope {
   public:
    explicit Scope(AwaitTrace& trace) : trace_(trace) { ++trace_.depth_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { --trace_.depth_; }

   private:
    AwaitTrace& trace_;
  };
  // Scopes that end with an outer one: how far inside the next line is.
  int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }

  std::span<const Line> lines() const {
    return std::span(lines_).first(static_cast<size_t>(count_));
  }
  int left_out() const { return left_out_; }
  // To keep: with a line about those that are left out, if there are any.
  std::vector<Line> Copy() const;

  // For people; each line behind `indent`.
  std::string ToString(std::string_view indent = "  ") const;
  static std::string ToString(std::span<const Line> lines,
                              std::string_view indent = "  ");

 private:
  Line& NextLine();

  std::array<Line, kMaxLines> lines_;
  int count_ = 0;
  int left_out_ = 0;
  int own_wakers_ = 0;
  int depth_ = 0;
  Line unused_;  // takes what does not fit
};

namespace task_internal {

template <class F>
concept Traceable =
    requires(const F& future, AwaitTrace& trace) { future.Trace(trace); };

// From "... [F = weft::Sleep]" or "... [with F = weft::Sleep; ...]".
constexpr std::string_view TypeIn(std::string_view function) {
  const size_t begin = function.find("F = ") + 4;
  int inside = 0;  // of brackets
  size_t end = begin;
  for (; end < function.size(); ++end) {
    const char c = function[end];
    if (inside == 0 && (c == ';' || c == ']')) break;
    inside += (c == '[' || c == '(') - (c == ']' || c == ')');
  }
  return function.substr(begin, end - begin);
}
template <class F>
constexpr std::string_view NameOfType() {
  return TypeIn(__PRETTY_FUNCTION__);
}

}  // namespace task_internal

// Adds the lines of a future that a traced one holds.
template <class F>
void TraceFuture(const F& future, AwaitTrace& trace) {
  if constexpr (task_internal::Traceable<F>) {
    future.Trace(trace);
  } else {
    trace.AddFuture(task_internal::NameOfType<F>());
  }
}

// "Server::Serve" from what a source_location calls a function: without result,
// parameters and what a compiler adds for coroutines.
std::string_view ShortFunctionName(std::string_view function);

}  // namespace weft

#endif  // WEFT_TASK_AWAIT_TRACE_H_
