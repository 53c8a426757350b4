// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! The cases of the benchmarks, generic over a Rust runtime.
//!
//! Names and parameters are those of weft's program; see bench/README.md.

mod compute;
mod harness;
mod latency;
mod mpsc;
mod scheduler;
mod select;
mod sync;
mod telling;
mod waiters;

pub use harness::{now, run_case, Bench, Outcome};
pub use mpsc::{mpsc, oneshot, request_reply, Requests};
pub use scheduler::create;
pub use select::{selects, Selects};
pub use sync::{channels, locks, Channels, Locks, Message, Receiver, Sender};
pub use telling::{notify, tell_all, Signals, Telling};
pub use waiters::{waiters, Gate};

use std::future::Future;

/// A runtime, made once per process.
pub trait Runtime: 'static {
    type Handle<T: Send + 'static>: Future<Output = T> + Send + Unpin + 'static;

    fn start(bench: &Bench) -> Self;

    /// From a thread that runs no tasks, or one that is about to.
    fn spawn_outside<F>(&self, future: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// From a task or a future in `block_on`.
    fn spawn<F>(future: F) -> Self::Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    fn detach<T: Send + 'static>(handle: Self::Handle<T>);

    fn block_on<F: Future>(&self, future: F) -> F::Output;

    fn yield_now() -> impl Future<Output = ()> + Send;

    fn oneshot<T: Send + 'static>(
    ) -> (impl FnOnce(T) + Send + 'static, impl Future<Output = T> + Send + 'static);

    /// A blocking job that does nothing. Only for the multi-thread cases.
    fn spawn_blocking() -> impl Future<Output = ()> + Send + Unpin;
}

/// Runs a case of the multi-thread runtime.
pub fn multi_thread<R: Runtime + Sync>(bench: &mut Bench) -> Outcome {
    match bench.name() {
        "spawn_many_local" => scheduler::spawn_many_local::<R>(bench),
        "spawn_many_remote_idle" => scheduler::spawn_many_remote_idle::<R>(bench),
        "spawn_many_remote_busy1" => scheduler::spawn_many_remote_busy1::<R>(bench),
        "spawn_many_remote_busy2" => scheduler::spawn_many_remote_busy2::<R>(bench),
        "yield_many" => scheduler::yield_many::<R>(bench),
        "ping_pong" => scheduler::ping_pong::<R>(bench),
        "chained_spawn" => scheduler::chained_spawn::<R>(bench),
        "mt_spawn" => scheduler::spawn_rounds::<R>(bench),
        "remote_spawn" => scheduler::remote_spawn::<R>(bench),
        "spawn_blocking" => scheduler::spawn_blocking::<R>(bench),
        "spawn_one" => scheduler::spawn_one::<R>(bench),
        "spawn_batch" => scheduler::spawn_batch::<R>(bench),
        "spawn_many" => scheduler::spawn_many_remote_idle::<R>(bench),
        "spawn_recursively" => scheduler::spawn_recursively::<R>(bench),
        "yield_now" => scheduler::yield_now::<R>(bench),
        "fib" => compute::fib::<R>(bench),
        "skynet" => compute::skynet::<R>(bench),
        "nqueens" => compute::nqueens::<R>(bench),
        "matmul" => compute::matmul::<R>(bench),
        "flat_spawn" | "flat_spawn_many" => scheduler::flat_spawn::<R>(bench),
        "memory_per_task" => latency::memory_per_task::<R>(bench),
        "wake_latency" => latency::wake_latency::<R>(bench),
        "wake_latency_busy" => latency::wake_latency_busy::<R>(bench),
        "fairness" => latency::fairness::<R>(bench),
        "idle_cpu" => latency::idle_cpu::<R>(bench),
        _ => return Outcome::NoSuchCase,
    }
    Outcome::Done
}

/// Runs a case of a runtime that stays on the calling thread.
pub fn current_thread<R: Runtime>(bench: &mut Bench) -> Outcome {
    match bench.name() {
        "ct_spawn" => scheduler::spawn_rounds::<R>(bench),
        "ct_spawn_many_local" | "local_spawn" => scheduler::spawn_and_join::<R>(bench),
        "ct_spawn_many_remote_idle" => scheduler::spawn_many_remote_idle::<R>(bench),
        "ct_spawn_many_remote_busy" => scheduler::ct_spawn_many_remote_busy::<R>(bench),
        _ => return Outcome::NoSuchCase,
    }
    Outcome::Done
}
