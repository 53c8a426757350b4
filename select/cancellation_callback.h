// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CancellationCallback: a function that is called when a token is cancelled.
//
//   auto on_cancel = token.OnCancel([&] { socket.Close(); });
//   ...  // the function may be called, on another thread
//   // here `on_cancel` goes: from now on it is not called, nor does it run
//
// It is called once, by the thread that cancels, with no lock held; at once, by
// the thread that asks for it, if the token is cancelled already. It should be
// short, and must not throw: that ends the program. Those of one token are
// called in the order in which they were made.
//
// For what is not a future: a call of another library's, a loop that blocks.
// Futures wait for CancellationToken::Cancelled().
//
// Thread safety: made and destroyed on any thread.
// Lifetime: independent of tokens and sources. It stays where it was made.
// Dropping: the function will not be called. If it runs on another thread at
// this moment, waits until it has returned: so do not hold a lock then that the
// function wants. The function itself may destroy it, too.
#ifndef WEFT_SELECT_CANCELLATION_CALLBACK_H_
#define WEFT_SELECT_CANCELLATION_CALLBACK_H_

#include <utility>

#include "weft/select/callback_list.h"
#include "weft/select/cancellation_node.h"

namespace weft {

template <class Fn>
class [[nodiscard(
    "a CancellationCallback is not called any more once it is "
    "dropped")]] CancellationCallback : private select_internal::CallbackNode {
 public:
  // See CancellationToken::OnCancel().
  CancellationCallback(select_internal::CancellationRef node, Fn fn)
      : CallbackNode(&Call), fn_(std::move(fn)) {
    if (!node) return;
    if (node->AddCallback(*this)) {
      node_ = std::move(node);
    } else {
      Call(*this);
    }
  }
  ~CancellationCallback() {
    if (node_) node_->RemoveCallback(*this);
  }

 private:
  static void Call(CallbackNode& node) noexcept {
    static_cast<void>(static_cast<CancellationCallback&>(node).fn_());
  }

  Fn fn_;
  // Where it was added.
  select_internal::CancellationRef node_;
};

}  // namespace weft

#endif  // WEFT_SELECT_CANCELLATION_CALLBACK_H_
