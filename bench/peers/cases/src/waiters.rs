// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Many tasks that wait until they are let through.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

use crate::mpsc::measure_task;
use crate::{Bench, Outcome, Runtime};

/// What tasks wait at. `open` lets everybody through, with a lock one after another.
pub trait Gate: Send + Sync + 'static {
    fn shut() -> Self;
    /// Calls `arrived` before it waits.
    fn pass(&self, arrived: impl FnOnce() + Send) -> impl Future<Output = ()> + Send;
    fn open(&self, waiters: usize);
}

async fn gather_and_release<R: Runtime, G: Gate>(waiters: usize) {
    let state = Arc::new((G::shut(), AtomicUsize::new(0)));
    let mut handles = Vec::new();
    for _ in 0..waiters {
        let state = state.clone();
        handles.push(R::spawn(async move {
            let arrived = || {
                state.1.fetch_add(1, SeqCst);
            };
            state.0.pass(arrived).await;
        }));
    }
    while state.1.load(SeqCst) < waiters {
        R::yield_now().await;
    }
    state.0.open(waiters);
    for handle in handles {
        handle.await;
    }
}

/// Waits `bench.size` times in all, as far as that is whole rounds.
pub fn waiters<R: Runtime + Sync, G: Gate>(bench: &mut Bench) -> Outcome {
    let runtime = R::start(bench);
    let waiters: usize = bench.name().split('_').nth(1).unwrap().parse().unwrap();
    let rounds = (bench.size / waiters).max(1);
    measure_task(bench, &runtime, rounds * waiters, || async move {
        for _ in 0..rounds {
            gather_and_release::<R, G>(waiters).await;
        }
    })
}
