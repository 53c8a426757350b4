// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/environment.h"

#include <atomic>
#include <utility>

#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/driver.h"
#include "weft/task/random.h"

namespace weft {
namespace {

constexpr Environment kNothing;

// Not inlined: a coroutine may resume on another thread between two uses, and a
// compiler may keep the address of a thread-local across that.
[[gnu::noinline]] const Environment*& CurrentSlot() {
  static thread_local const Environment* current = &kNothing;
  return current;
}

std::atomic<const Environment& (*)()> default_provider{nullptr};

// Acquire: pairs with the registration.
const Environment* DefaultEnvironment() {
  auto* provider = default_provider.load(std::memory_order_acquire);
  return provider == nullptr ? nullptr : &provider();
}

}  // namespace

const Environment& Environment::Current() { return *CurrentSlot(); }

Driver& Environment::CurrentDriver() {
  Driver* driver = Current().driver;
  return driver != nullptr ? *driver : Driver::OfThread();
}

const Clock& Environment::CurrentClock() {
  const Clock* clock = Current().clock;
  return clock != nullptr ? *clock : Clock::Real();
}

Random& Environment::CurrentRandom() {
  Random* random = Current().random;
  return random != nullptr ? *random : Random::OfThread();
}

Spawner& Environment::CurrentSpawner() {
  if (Spawner* spawner = Current().spawner) return *spawner;
  const Environment* fallback = DefaultEnvironment();
  WEFT_CHECK(
      fallback != nullptr && fallback->spawner != nullptr,
      "Spawn() was called outside any runtime: run this code in weft::Main() "
      "or "
      "Runtime::BlockOn(), Enter() a runtime, make an environment with a "
      "spawner "
      "current by an EnvironmentScope, or make the final binary depend on "
      "//runtime:default");
  return *fallback->spawner;
}

Offload& Environment::CurrentOffload() {
  if (Offload* offload = Current().offload) return *offload;
  const Environment* fallback = DefaultEnvironment();
  WEFT_CHECK(
      fallback != nullptr && fallback->offload != nullptr,
      "work that blocks (SpawnBlocking, files, name lookups) was asked "
      "for outside any runtime: run this code in weft::Main() or "
      "Runtime::BlockOn(), Enter() a runtime, give a thread pool an "
      "environment with an offload by InEnvironment(), make one current by an "
      "EnvironmentScope, or make the final binary depend on "
      "//runtime:default");
  return *fallback->offload;
}

EnvironmentScope::EnvironmentScope(const Environment& environment)
    : environment_(&environment),
      previous_(std::exchange(CurrentSlot(), &environment)) {}

EnvironmentScope::~EnvironmentScope() {
  WEFT_CHECK(CurrentSlot() == environment_,
             "an EnvironmentScope (or EnterGuard) ended on another thread than "
             "it began, or out of order: do not hold one across co_await");
  CurrentSlot() = previous_;
}

void RegisterDefaultEnvironment(const Environment& (*provider)()) {
  // Release: pairs with DefaultEnvironment.
  default_provider.store(provider, std::memory_order_release);
}

}  // namespace weft
