// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! The benchmarks on Tokio.

mod cancel;
mod gates;
mod sync;
mod telling;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bench_cases::{
    channels, create, current_thread, locks, mpsc, multi_thread, notify, oneshot, request_reply,
    run_case, selects, tell_all, Bench, Outcome, Runtime,
};
use tokio::runtime::{Builder, Runtime as TokioRuntime};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet};

/// A handle whose task does not panic.
struct Handle<T>(JoinHandle<T>);

impl<T> Future for Handle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(cx).map(Result::unwrap)
    }
}

/// What the three flavours have in common.
macro_rules! common {
    () => {
        type Handle<T: Send + 'static> = Handle<T>;

        fn detach<T: Send + 'static>(handle: Handle<T>) {
            drop(handle);
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            tokio::task::yield_now()
        }

        fn oneshot<T: Send + 'static>(
        ) -> (impl FnOnce(T) + Send + 'static, impl Future<Output = T> + Send + 'static) {
            let (sender, receiver) = oneshot::channel();
            let send = move |value| drop(sender.send(value));
            (send, async move { receiver.await.unwrap() })
        }

        fn spawn_blocking() -> impl Future<Output = ()> + Send + Unpin {
            Handle(tokio::task::spawn_blocking(|| ()))
        }
    };
}

/// Spawning on a runtime whose tasks may move between threads.
macro_rules! spawn_send {
    () => {
        fn spawn_outside<F>(&self, future: F) -> Handle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            Handle(self.0.spawn(future))
        }

        fn spawn<F>(future: F) -> Handle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            Handle(tokio::spawn(future))
        }

        fn block_on<F: Future>(&self, future: F) -> F::Output {
            self.0.block_on(future)
        }
    };
}

fn build(mut builder: Builder, bench: &Bench) -> TokioRuntime {
    if bench.io {
        builder.enable_all();
    }
    builder.build().unwrap()
}

struct MultiThread(TokioRuntime);

impl Runtime for MultiThread {
    common!();
    spawn_send!();

    fn start(bench: &Bench) -> Self {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(bench.workers);
        Self(build(builder, bench))
    }
}

struct CurrentThread(TokioRuntime);

impl Runtime for CurrentThread {
    common!();
    spawn_send!();

    fn start(bench: &Bench) -> Self {
        Self(build(Builder::new_current_thread(), bench))
    }
}

struct Local(TokioRuntime, LocalSet);

impl Runtime for Local {
    common!();

    fn start(bench: &Bench) -> Self {
        Self(build(Builder::new_current_thread(), bench), LocalSet::new())
    }

    fn spawn_outside<F>(&self, future: F) -> Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Handle(self.1.spawn_local(future))
    }

    fn spawn<F>(future: F) -> Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Handle(tokio::task::spawn_local(future))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.1.block_on(&self.0, future)
    }
}

fn make_and_run() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(runtime.spawn(async {})).unwrap();
}

/// Runs a row of the suite sync, or another one.
fn sync(bench: &mut Bench) -> Outcome {
    match bench.name().split('_').next().unwrap() {
        "broadcast" => tell_all::<MultiThread, telling::Broadcast>(bench),
        "cancel" => cancel::cancel_tree(bench),
        "channel" => channels::<MultiThread>(bench),
        "mpsc" => mpsc::<MultiThread>(bench),
        "mutex" | "rwlock" | "semaphore" => locks::<MultiThread>(bench),
        "notify" => notify::<MultiThread>(bench),
        "oneshot" => oneshot::<MultiThread>(bench),
        "request" => request_reply::<MultiThread>(bench),
        "select" => selects::<MultiThread>(bench),
        "waiters" => gates::gates(bench),
        "watch" => tell_all::<MultiThread, telling::Watch>(bench),
        _ => multi_thread::<MultiThread>(bench),
    }
}

fn main() {
    run_case(|bench| match bench.name() {
        "create" => {
            create(bench, make_and_run);
            Outcome::Done
        }
        "local_spawn" => current_thread::<Local>(bench),
        name if name.starts_with("ct_") => current_thread::<CurrentThread>(bench),
        _ => sync(bench),
    });
}
