// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! The executor's benchmark on async-std.

use std::future::Future;

use async_std::task::{self, JoinHandle};
use bench_cases::{current_thread, multi_thread, run_case, Bench, Outcome, Runtime};
use futures_channel::oneshot;

/// What both flavours have in common.
macro_rules! common {
    () => {
        type Handle<T: Send + 'static> = JoinHandle<T>;

        fn detach<T: Send + 'static>(handle: JoinHandle<T>) {
            drop(handle);
        }

        fn block_on<F: Future>(&self, future: F) -> F::Output {
            task::block_on(future)
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            task::yield_now()
        }

        fn oneshot<T: Send + 'static>() -> (
            impl FnOnce(T) + Send + 'static,
            impl Future<Output = T> + Send + 'static,
        ) {
            let (sender, receiver) = oneshot::channel();
            let send = move |value| drop(sender.send(value));
            (send, async move { receiver.await.unwrap() })
        }

        fn spawn_blocking() -> impl Future<Output = ()> + Send + Unpin {
            task::spawn_blocking(|| ())
        }
    };
}

/// The global runtime, which starts at the first spawn.
struct MultiThread;

impl Runtime for MultiThread {
    common!();

    fn start(bench: &Bench) -> Self {
        std::env::set_var("ASYNC_STD_THREAD_COUNT", bench.workers.to_string());
        Self
    }

    fn spawn_outside<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn(future)
    }

    fn spawn<F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn(future)
    }
}

struct Local;

impl Runtime for Local {
    common!();

    fn start(_: &Bench) -> Self {
        Self
    }

    fn spawn_outside<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn_local(future)
    }

    fn spawn<F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn_local(future)
    }
}

fn main() {
    run_case(|bench| match bench.name() {
        "create" => Outcome::Unsupported("its executor is global"),
        "local_spawn" => current_thread::<Local>(bench),
        name if name.starts_with("ct_") => Outcome::Unsupported("no current-thread runtime"),
        _ => multi_thread::<MultiThread>(bench),
    });
}
