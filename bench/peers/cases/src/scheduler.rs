// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Spawning, yielding, waking.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use crate::{Bench, Runtime};

pub async fn nothing() {}

pub async fn yield_times<R: Runtime>(n: usize) {
    for _ in 0..n {
        R::yield_now().await;
    }
}

/// Computes for 10 us.
pub fn stall() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(10) {}
}

/// Tells a receiver when it has been called `n` times.
struct Countdown {
    left: AtomicUsize,
    done: Mutex<Option<Box<dyn FnOnce(()) + Send>>>,
}

impl Countdown {
    fn new(n: usize, done: impl FnOnce(()) + Send + 'static) -> Arc<Self> {
        let done: Box<dyn FnOnce(()) + Send> = Box::new(done);
        Arc::new(Self { left: AtomicUsize::new(n), done: Mutex::new(Some(done)) })
    }

    fn done(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            (self.done.lock().unwrap().take().unwrap())(());
        }
    }
}

/// Tasks that yield and compute for 10 us, again and again: two per worker.
pub fn start_busy<R: Runtime>(runtime: &R, bench: &Bench) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..2 * bench.workers {
        let stop = stop.clone();
        R::detach(runtime.spawn_outside(async move {
            while !stop.load(Ordering::SeqCst) {
                R::yield_now().await;
                stall();
            }
        }));
    }
    stop
}

pub fn spawn_many_local<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n, || {
        runtime.block_on(runtime.spawn_outside(async move {
            let (sender, done) = R::oneshot();
            let countdown = Countdown::new(n, sender);
            for _ in 0..n {
                let countdown = countdown.clone();
                R::detach(R::spawn(async move { countdown.done() }));
            }
            done.await
        }))
    });
}

/// The main thread spawns `n` tasks that `make` gives and awaits them.
fn spawn_outside_and_join<R: Runtime, F>(runtime: &R, n: usize, make: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut handles = Vec::with_capacity(n);
    for _ in 0..n {
        handles.push(runtime.spawn_outside(make()));
    }
    runtime.block_on(async {
        for handle in handles {
            handle.await;
        }
    });
}

fn measure_remote_spawns<R: Runtime>(bench: &mut Bench, runtime: &R) {
    let n = bench.size;
    bench.measure(n, || spawn_outside_and_join(runtime, n, nothing));
}

pub fn spawn_many_remote_idle<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    measure_remote_spawns(bench, &runtime);
}

pub fn spawn_many_remote_busy1<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let stop = start_busy(&runtime, bench);
    measure_remote_spawns(bench, &runtime);
    stop.store(true, Ordering::SeqCst);
}

fn respawn<R: Runtime>(stop: Arc<AtomicBool>, work: fn()) {
    R::detach(R::spawn(async move {
        if !stop.load(Ordering::SeqCst) {
            work();
            respawn::<R>(stop, work);
        }
    }));
}

fn measure_beside_chains<R: Runtime>(bench: &mut Bench, chains: usize, work: fn()) {
    let runtime = R::start(bench);
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..chains {
        let stop = stop.clone();
        R::detach(runtime.spawn_outside(async move { respawn::<R>(stop, work) }));
    }
    measure_remote_spawns(bench, &runtime);
    stop.store(true, Ordering::SeqCst);
}

pub fn spawn_many_remote_busy2<R: Runtime>(bench: &mut Bench) {
    measure_beside_chains::<R>(bench, bench.workers, stall);
}

pub fn ct_spawn_many_remote_busy<R: Runtime>(bench: &mut Bench) {
    measure_beside_chains::<R>(bench, 1, || ());
}

pub fn yield_many<R: Runtime>(bench: &mut Bench) {
    const YIELDS: usize = 1000;
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n * YIELDS, || {
        spawn_outside_and_join(&runtime, n, || yield_times::<R>(YIELDS))
    });
}

async fn ping<R: Runtime>(countdown: Arc<Countdown>) {
    let (send_ping, ping) = R::oneshot();
    let (send_pong, pong) = R::oneshot();
    R::detach(R::spawn(async move {
        ping.await;
        send_pong(());
    }));
    send_ping(());
    pong.await;
    countdown.done();
}

pub fn ping_pong<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n, || {
        runtime.block_on(runtime.spawn_outside(async move {
            let (sender, done) = R::oneshot();
            let countdown = Countdown::new(n, sender);
            for _ in 0..n {
                R::detach(R::spawn(ping::<R>(countdown.clone())));
            }
            done.await
        }))
    });
}

fn chain<R: Runtime>(left: usize, done: impl FnOnce(()) + Send + 'static) {
    if left == 0 {
        return done(());
    }
    R::detach(R::spawn(async move { chain::<R>(left - 1, done) }));
}

pub fn chained_spawn<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n, || {
        let (sender, done) = R::oneshot();
        R::detach(runtime.spawn_outside(async move { chain::<R>(n, sender) }));
        runtime.block_on(done)
    });
}

/// 1000 rounds of `size` tasks that yield once.
pub fn spawn_rounds<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let width = bench.size;
    bench.measure(1000 * width, || {
        runtime.block_on(async {
            for _ in 0..1000 {
                let mut handles = Vec::with_capacity(width);
                for _ in 0..width {
                    handles.push(R::spawn(yield_times::<R>(1)));
                }
                for handle in handles {
                    handle.await;
                }
            }
        })
    });
}

async fn spawn_join<R: Runtime>(n: usize) {
    let mut handles = Vec::with_capacity(n);
    for _ in 0..n {
        handles.push(R::spawn(nothing()));
    }
    for handle in handles {
        handle.await;
    }
}

pub fn spawn_and_join<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n, || runtime.block_on(spawn_join::<R>(n)));
}

pub fn flat_spawn<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n, || {
        runtime.block_on(runtime.spawn_outside(spawn_join::<R>(n)))
    });
}

pub fn remote_spawn<R: Runtime + Sync>(bench: &mut Bench) {
    const TASKS: usize = 12_800;
    let runtime = R::start(bench);
    let threads = bench.size;
    let spawn_part = |start: &Barrier| {
        let mut handles = Vec::with_capacity(TASKS / threads);
        start.wait();
        for _ in 0..TASKS / threads {
            handles.push(runtime.spawn_outside(nothing()));
        }
        handles
    };
    bench.measure(TASKS, || {
        let start = Barrier::new(threads);
        let all: Vec<_> = std::thread::scope(|scope| {
            let spawners: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| spawn_part(&start))).collect();
            spawners.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        runtime.block_on(async {
            for handle in all {
                handle.await;
            }
        });
    });
}

pub fn spawn_blocking<R: Runtime>(bench: &mut Bench) {
    const BATCHES: usize = 100;
    const BATCH: usize = 16;
    async fn batches<R: Runtime>() {
        for _ in 0..BATCHES {
            let mut jobs = Vec::with_capacity(BATCH);
            for _ in 0..BATCH {
                jobs.push(R::spawn_blocking());
            }
            for job in jobs {
                job.await;
            }
        }
    }
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n * BATCHES * BATCH, || {
        spawn_outside_and_join(&runtime, n, batches::<R>)
    });
}

/// `make_and_run` makes an executor, runs one task on it, and destroys it.
pub fn create(bench: &mut Bench, make_and_run: impl Fn()) {
    let n = bench.size;
    bench.measure(n, || (0..n).for_each(|_| make_and_run()));
}

pub fn spawn_one<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n, || {
        for _ in 0..n {
            spawn_outside_and_join(&runtime, 1, nothing);
        }
    });
}

pub fn spawn_batch<R: Runtime>(bench: &mut Bench) {
    const ROUNDS: usize = 10;
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n * ROUNDS, || {
        for _ in 0..ROUNDS {
            spawn_outside_and_join(&runtime, n, || yield_times::<R>(1));
        }
    });
}

async fn recurse<R: Runtime>(depth: usize) {
    if depth > 0 {
        spawn_recurse::<R>(depth - 1).await;
    }
}

fn spawn_recurse<R: Runtime>(depth: usize) -> R::Handle<()> {
    R::spawn(recurse::<R>(depth))
}

pub fn spawn_recursively<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n * (n + 1), || {
        spawn_outside_and_join(&runtime, n, || recurse::<R>(n))
    });
}

pub fn yield_now<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    bench.measure(n * n, || {
        spawn_outside_and_join(&runtime, n, || yield_times::<R>(n))
    });
}
