// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! The benchmarks on smol: its Executor run by threads, its
//! LocalExecutor, and the pool of the `blocking` crate.

mod gates;
mod sync;
mod telling;

use std::future::Future;

use bench_cases::{
    channels, create, current_thread, locks, mpsc, multi_thread, notify, oneshot, request_reply,
    run_case, selects, tell_all, Bench, Outcome, Runtime,
};
use futures_channel::oneshot;
use smol::{Executor, LocalExecutor, Task};

static EXECUTOR: Executor<'static> = Executor::new();

/// What both flavours have in common.
macro_rules! common {
    () => {
        type Handle<T: Send + 'static> = Task<T>;

        fn detach<T: Send + 'static>(handle: Task<T>) {
            handle.detach();
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            futures_lite::future::yield_now()
        }

        fn oneshot<T: Send + 'static>(
        ) -> (impl FnOnce(T) + Send + 'static, impl Future<Output = T> + Send + 'static) {
            let (sender, receiver) = oneshot::channel();
            let send = move |value| drop(sender.send(value));
            (send, async move { receiver.await.unwrap() })
        }

        fn spawn_blocking() -> impl Future<Output = ()> + Send + Unpin {
            blocking::unblock(|| ())
        }
    };
}

/// Runs a future on this thread; `io`: which drives the reactor meanwhile.
fn wait<F: Future>(io: bool, future: F) -> F::Output {
    if io {
        smol::block_on(future)
    } else {
        futures_lite::future::block_on(future)
    }
}

struct MultiThread {
    io: bool,
}

impl Runtime for MultiThread {
    common!();

    fn start(bench: &Bench) -> Self {
        let io = bench.io;
        for _ in 0..bench.workers {
            std::thread::spawn(move || wait(io, EXECUTOR.run(std::future::pending::<()>())));
        }
        Self { io }
    }

    fn spawn_outside<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        EXECUTOR.spawn(future)
    }

    fn spawn<F>(future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        EXECUTOR.spawn(future)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        wait(self.io, future)
    }
}

thread_local! {
    static LOCAL: &'static LocalExecutor<'static> = Box::leak(Box::default());
}

struct Local {
    io: bool,
}

impl Runtime for Local {
    common!();

    fn start(bench: &Bench) -> Self {
        Self { io: bench.io }
    }

    fn spawn_outside<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        LOCAL.with(|executor| executor.spawn(future))
    }

    fn spawn<F>(future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        LOCAL.with(|executor| executor.spawn(future))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        let executor = LOCAL.with(|executor| *executor);
        wait(self.io, executor.run(future))
    }
}

fn make_and_run() {
    let executor = Executor::new();
    let task = executor.spawn(async {});
    futures_lite::future::block_on(executor.run(task));
}

/// As its own benchmark does it: all at once.
fn spawn_batch(bench: &mut Bench) -> Outcome {
    const ROUNDS: usize = 10;
    let runtime = MultiThread::start(bench);
    let n = bench.size;
    bench.measure(n * ROUNDS, || {
        for _ in 0..ROUNDS {
            let mut handles = Vec::with_capacity(n);
            let tasks = (0..n).map(|_| futures_lite::future::yield_now());
            EXECUTOR.spawn_many(tasks, &mut handles);
            runtime.block_on(async {
                for handle in handles {
                    handle.await;
                }
            });
        }
    });
    Outcome::Done
}

/// Likewise, by a task.
fn flat_spawn_many(bench: &mut Bench) -> Outcome {
    let runtime = MultiThread::start(bench);
    let n = bench.size;
    bench.measure(n, || {
        runtime.block_on(runtime.spawn_outside(async move {
            let mut handles = Vec::with_capacity(n);
            EXECUTOR.spawn_many((0..n).map(|_| async {}), &mut handles);
            for handle in handles {
                handle.await;
            }
        }))
    });
    Outcome::Done
}

/// Runs a row of the suite sync, or another one.
fn sync(bench: &mut Bench) -> Outcome {
    match bench.name().split('_').next().unwrap() {
        "broadcast" => tell_all::<MultiThread, telling::Broadcast>(bench),
        "cancel" => Outcome::Unsupported("no cancellation tokens"),
        "channel" => channels::<MultiThread>(bench),
        "mpsc" => mpsc::<MultiThread>(bench),
        "mutex" | "rwlock" | "semaphore" => locks::<MultiThread>(bench),
        "notify" => notify::<MultiThread>(bench),
        "oneshot" => oneshot::<MultiThread>(bench),
        "request" => request_reply::<MultiThread>(bench),
        "select" => selects::<MultiThread>(bench),
        "waiters" => gates::gates(bench),
        "watch" => Outcome::Unsupported("no watch"),
        _ => multi_thread::<MultiThread>(bench),
    }
}

fn main() {
    run_case(|bench| match bench.name() {
        "create" => {
            create(bench, make_and_run);
            Outcome::Done
        }
        "spawn_batch" => spawn_batch(bench),
        "flat_spawn_many" => flat_spawn_many(bench),
        "local_spawn" => current_thread::<Local>(bench),
        name if name.starts_with("ct_") => current_thread::<Local>(bench),
        _ => sync(bench),
    });
}
