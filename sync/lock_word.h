// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LockWord: all that the fast paths of a lock or a semaphore look at. Internal;
// sync/lock_core.h has the rest.
//
// Three bits, and above them how much is taken or left, which is the business of
// the Rules:
//
//   kQueued     Somebody is in the queue. Changed under the core's mutex only, and
//               equal to "the queue is not empty" whenever that is not held. Who
//               gives something back does it under the mutex while it is set.
//   kNoBarging  Newcomers have to queue. Set only together with kQueued, and
//               changed under the mutex only.
//   kClosed     Nothing is given any more. Never cleared.
//
// While kQueued is clear, to take is one compare-and-swap and to give back is
// another. Giving back never sets something first and looks at kQueued later: as
// soon as it is visible that something was given back, the next one may take it
// and destroy the lock.
//
// Rules say what a Request is, whether it Fits() a word, and what the word is once
// it was taken (Take) or given back (Give).
#ifndef WEFT_SYNC_LOCK_WORD_H_
#define WEFT_SYNC_LOCK_WORD_H_

#include <atomic>
#include <cstdint>

#include "weft/task/check.h"

namespace weft::sync_internal {

using Word = uint64_t;

inline constexpr Word kQueued = 1;
inline constexpr Word kNoBarging = 2;
inline constexpr Word kClosed = 4;
inline constexpr Word kLockBits = kQueued | kNoBarging | kClosed;
// The lowest bit of the Rules.
inline constexpr Word kLockUnit = 8;

// The word counts what is left. A request is a number of permits.
struct PermitRules {
  static constexpr Word kMax = ~kLockBits / kLockUnit;

  struct Request {
    Word permits;
  };

  static constexpr Word Make(Word permits) { return permits * kLockUnit; }
  static constexpr Word Left(Word word) { return word / kLockUnit; }

  static bool Fits(Word word, Request request) {
    return request.permits <= Left(word);
  }
  static Word Take(Word word, Request request) {
    return word - Make(request.permits);
  }
  static Word Give(Word word, Request request) {
    WEFT_CHECK(request.permits <= kMax - Left(word),
               "a Semaphore was given more than kMaxPermits");
    return word + Make(request.permits);
  }
};

// The word says who is in. A request is what it sets, and what must not be set for
// that. One that only gives back may be the difference of two.
struct ExclusionRules {
  static constexpr Word kWriter = kLockUnit;
  static constexpr Word kUpgradable = 2 * kLockUnit;
  static constexpr Word kReader = 4 * kLockUnit;  // and the number in all above
  static constexpr Word kReaders = ~(kReader - 1);

  struct Request {
    Word excludes;
    Word sets;
  };
  static constexpr Request kWrite = {~kLockBits, kWriter};
  static constexpr Request kRead = {kWriter, kReader};
  static constexpr Request kUpgradableRead = {kWriter | kUpgradable,
                                              kUpgradable};
  // From an upgradable reader to a writer. The writer can only be another upgrade of
  // the same guard, by mistake, and must stay alone then, too.
  static constexpr Request kUpgrade = {kReaders | kWriter,
                                       kWriter - kUpgradable};

  static bool Fits(Word word, Request request) {
    return (word & request.excludes) == 0;
  }
  static Word Take(Word word, Request request) { return word + request.sets; }
  static Word Give(Word word, Request request) { return word - request.sets; }
};

// `Atomics` lets a model checker run this code.
template <class Rules, class Atomics>
class LockWord {
 public:
  using Request = typename Rules::Request;

  explicit constexpr LockWord(Word word) : word_(word) {}

  // Takes unless one of the bits in `unless` is set, or it does not fit.
  bool TryTake(Request request, Word unless = kNoBarging | kClosed) {
    // Relaxed: the exchange below decides.
    Word word = word_.load(std::memory_order_relaxed);
    while ((word & unless) == 0 && Rules::Fits(word, request)) {
      // Acquire: what was done before it was given back happens before this. Also
      // if several gave back, since each exchange continues the releases before.
      if (word_.compare_exchange_strong(word, Rules::Take(word, request),
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Gives back unless somebody is queued. Touches nothing after.
  bool TryGive(Request request) {
    // Relaxed: the exchange below decides.
    Word word = word_.load(std::memory_order_relaxed);
    while ((word & kQueued) == 0) {
      // Release: pairs with the acquire of who takes it.
      if (word_.compare_exchange_strong(word, Rules::Give(word, request),
                                        std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Puts change(word) in the place of `word` where that returns something else.
  // Returns what is there then.
  template <class Change>
  Word Update(Change change) {
    // Relaxed: the exchange below decides.
    Word word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const Word changed = change(word);
      // Acquire and release: it may take, for somebody who learns of it under the
      // mutex, or give back.
      if (changed == word || word_.compare_exchange_strong(
                                 word, changed, std::memory_order_acq_rel,
                                 std::memory_order_relaxed)) {
        return changed;
      }
    }
  }

  // Acquire: as if what it shows had been taken.
  Word Load() const { return word_.load(std::memory_order_acquire); }

 private:
  typename Atomics::template Atomic<Word> word_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_LOCK_WORD_H_
