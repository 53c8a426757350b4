// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Messages that each receiver gets, and notifications.

use std::future::Future;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

use crate::mpsc::measure_task;
use crate::{Bench, Outcome, Runtime};

/// Notifications for who waits.
pub trait Signals: Runtime + Sync {
    type Signal: Send + Sync + 'static;

    fn signal() -> Self::Signal;
    fn notify_one(signal: &Self::Signal);
    fn notify_all(signal: &Self::Signal);
    /// Hears of what comes after the call.
    fn wait(signal: &Self::Signal) -> impl Future<Output = ()> + Send;
}

/// A task notifies until so many wakes are counted; lets others run in between.
pub fn notify<S: Signals>(bench: &mut Bench) -> Outcome {
    let runtime = S::start(bench);
    let (way, waiters) = bench.name().rsplit_once('_').unwrap();
    let waiters: usize = waiters.parse().unwrap();
    let tell = if way == "notify_one" { S::notify_one } else { S::notify_all };
    let state = Arc::new((S::signal(), AtomicUsize::new(0)));
    for _ in 0..waiters {
        let state = state.clone();
        S::detach(runtime.spawn_outside(async move {
            loop {
                S::wait(&state.0).await;
                state.1.fetch_add(1, SeqCst);
            }
        }));
    }
    let count = bench.size;
    measure_task(bench, &runtime, count, || {
        let state = state.clone();
        async move {
            state.1.store(0, SeqCst);
            while state.1.load(SeqCst) < count {
                tell(&state.0);
                S::yield_now().await;
            }
        }
    })
}

/// A sender of messages that each receiver gets.
pub trait Telling: Send + Sync + Sized + 'static {
    type Hearer: Send + 'static;

    fn new() -> Self;
    fn subscribe(&self) -> Self::Hearer;
    fn tell(&self, number: u64) -> impl Future<Output = ()> + Send;
    /// None once the sender is gone.
    fn hear(hearer: &mut Self::Hearer) -> impl Future<Output = Option<u64>> + Send;
}

/// What somebody does with a message: 100 steps of a xorshift, in every program.
fn work(message: u64) {
    let mut state = message + 1;
    for _ in 0..100 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}

/// The receivers that have not done their work on a message yet.
struct Round<S: Signals> {
    left: AtomicUsize,
    finished: S::Signal,
}

impl<S: Signals> Round<S> {
    fn finish(&self) {
        if self.left.fetch_sub(1, SeqCst) == 1 {
            S::notify_one(&self.finished);
        }
    }

    async fn finished(&self) {
        while self.left.load(SeqCst) > 0 {
            let wait = S::wait(&self.finished);
            if self.left.load(SeqCst) > 0 {
                wait.await;
            }
        }
    }
}

/// Messages to as many receivers as the row's name says, each awaited by all.
pub fn tell_all<S: Signals, T: Telling>(bench: &mut Bench) -> Outcome {
    let runtime = S::start(bench);
    let receivers: usize = bench.name().rsplit_once('_').unwrap().1.parse().unwrap();
    let teller = Arc::new(T::new());
    let round = Arc::new(Round::<S> { left: AtomicUsize::new(0), finished: S::signal() });
    for _ in 0..receivers {
        let (mut hearer, round) = (teller.subscribe(), round.clone());
        S::detach(runtime.spawn_outside(async move {
            while let Some(message) = T::hear(&mut hearer).await {
                work(message);
                round.finish();
            }
        }));
    }
    let count = bench.size;
    measure_task(bench, &runtime, receivers * count, || {
        let (teller, round) = (teller.clone(), round.clone());
        async move {
            for i in 0..count as u64 {
                round.left.store(receivers, SeqCst);
                teller.tell(i).await;
                round.finished().await;
            }
        }
    })
}
