// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Cancellation tokens and std::stop_token, each made of the other.
//
//   std::jthread worker([](std::stop_token stop) {
//     const compat::CancellationFromStop cancellation(stop);
//     BlockOn(Serve(cancellation.token()));
//   });
//
//   Task<> Search(CancellationToken token) {
//     const compat::StopFromCancellation stop(token);
//     co_await SpawnBlocking([stop = stop.stop_token()] { Compute(stop); });
//   }
//
// Each is a link that lasts as long as the object: what one side asks for, the
// other one learns at once, on the thread that asks. What is asked for already
// when the object is made is passed on then. It never goes back: cancelling what
// was made does not reach what it was made of.
//
// A std::stop_token has no reason: CancellationFromStop cancels with
// CancelledStatus().
//
// Thread safety: all methods from any thread; made and destroyed on any one.
// Lifetime: independent of what it is made of and of the tokens it has given.
// It stays where it was made.
// Dropping: the link is cut; tokens that were given are not cancelled by it any
// more. If the other side is just passing it on, on another thread, waits until
// that is done: see select/cancellation_callback.h and std::stop_callback.
#ifndef WEFT_COMPAT_STOP_TOKEN_H_
#define WEFT_COMPAT_STOP_TOKEN_H_

#include <stop_token>
#include <utility>

#include "weft/select/cancellation_callback.h"
#include "weft/select/cancellation_token.h"

namespace weft::compat {

// A cancellation token that is cancelled when a std::stop_token is stopped.
class CancellationFromStop {
 public:
  // The token is a child of `parent`, too, if that has a source.
  explicit CancellationFromStop(
      std::stop_token stop,
      const CancellationToken& parent = CancellationToken())
      : source_(parent), on_stop_(std::move(stop), Cancel{source_}) {}
  CancellationFromStop(const CancellationFromStop&) = delete;
  CancellationFromStop& operator=(const CancellationFromStop&) = delete;

  CancellationToken token() const { return source_.token(); }

 private:
  struct Cancel {
    void operator()() noexcept { source.Cancel(); }
    CancellationSource source;
  };

  const CancellationSource source_;
  std::stop_callback<Cancel> on_stop_;
};

// A std::stop_token that is stopped when a cancellation token is cancelled.
class StopFromCancellation {
 public:
  explicit StopFromCancellation(const CancellationToken& token)
      : on_cancel_(token.OnCancel(RequestStop{source_})) {}
  StopFromCancellation(const StopFromCancellation&) = delete;
  StopFromCancellation& operator=(const StopFromCancellation&) = delete;

  std::stop_token stop_token() const { return source_.get_token(); }
  // For whoever may stop it, too.
  std::stop_source stop_source() const { return source_; }

 private:
  struct RequestStop {
    void operator()() noexcept { source.request_stop(); }
    std::stop_source source;
  };

  const std::stop_source source_;
  CancellationCallback<RequestStop> on_cancel_;
};

}  // namespace weft::compat

#endif  // WEFT_COMPAT_STOP_TOKEN_H_
