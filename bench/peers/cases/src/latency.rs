// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! When a task runs, what it costs to be idle, what a suspended task takes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::harness::{cpu_ns, now, read_status};
use crate::scheduler::start_busy;
use crate::{Bench, Runtime};

const STATUS: &str = "/proc/self/status";

fn rest(ns: u64) {
    std::thread::sleep(Duration::from_nanos(ns));
}

fn measure_wakes<R: Runtime>(bench: &mut Bench, runtime: &R) {
    const GAP_NS: u64 = 200_000; // long enough for everybody to sleep
    let mut latencies = Vec::new();
    for _ in 0..bench.size {
        let (sender, receiver) = R::oneshot();
        let handle = runtime.spawn_outside(async move {
            let sent: std::time::Instant = receiver.await;
            sent.elapsed().as_nanos() as u64
        });
        rest(GAP_NS);
        sender(now());
        latencies.push(runtime.block_on(handle));
    }
    bench.record_latency(latencies);
}

pub fn wake_latency<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    measure_wakes(bench, &runtime);
}

pub fn wake_latency_busy<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let stop = start_busy(&runtime, bench);
    measure_wakes(bench, &runtime);
    stop.store(true, Ordering::SeqCst);
}

/// How far each of a set of equal tasks has come.
struct Race {
    progress: Vec<AtomicUsize>,
    finished: AtomicBool,
    slowest: AtomicUsize, // when the first one finished
}

async fn run_race<R: Runtime>(race: Arc<Race>, own: usize, steps: usize) {
    for _ in 0..steps {
        R::yield_now().await;
        race.progress[own].fetch_add(1, Ordering::Relaxed);
    }
    if !race.finished.swap(true, Ordering::SeqCst) {
        let progress = race.progress.iter().map(|n| n.load(Ordering::SeqCst));
        race.slowest.store(progress.min().unwrap(), Ordering::SeqCst);
    }
}

pub fn fairness<R: Runtime>(bench: &mut Bench) {
    const STEPS: usize = 10_000;
    let runtime = R::start(bench);
    let n = bench.size;
    let race = Arc::new(Race {
        progress: (0..n).map(|_| AtomicUsize::new(0)).collect(),
        finished: AtomicBool::new(false),
        slowest: AtomicUsize::new(0),
    });
    let racers = race.clone();
    runtime.block_on(runtime.spawn_outside(async move {
        let mut handles = Vec::new();
        for own in 0..n {
            handles.push(R::spawn(run_race::<R>(racers.clone(), own, STEPS)));
        }
        for handle in handles {
            handle.await;
        }
    }));
    let slowest = race.slowest.load(Ordering::SeqCst);
    bench.record("spread", STEPS as f64 / (slowest + 1) as f64);
}

static SUSPENDED: AtomicUsize = AtomicUsize::new(0);

pub fn memory_per_task<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let before = read_status(STATUS, "VmRSS");
    let mut handles = Vec::with_capacity(bench.size);
    for _ in 0..bench.size {
        handles.push(runtime.spawn_outside(async {
            SUSPENDED.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<()>().await;
        }));
    }
    while SUSPENDED.load(Ordering::SeqCst) < bench.size {
        rest(1_000_000);
    }
    let kib = read_status(STATUS, "VmRSS") - before;
    bench.record("bytes_per_task", kib * 1024.0 / bench.size as f64);
    // Not cancelled one by one: the process ends.
    std::mem::forget(handles);
}

fn context_switches() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let status = |thread: std::fs::DirEntry| thread.path().join("status");
    let count = |thread: std::io::Result<std::fs::DirEntry>| {
        read_status(status(thread.unwrap()).to_str().unwrap(), "ctxt_switches")
    };
    threads.map(count).sum()
}

pub fn idle_cpu<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    R::detach(runtime.spawn_outside(std::future::pending::<()>()));
    rest(200_000_000);
    // To count switches costs time, which is not to be counted.
    let switches_before = context_switches();
    let cpu_before = cpu_ns();
    rest(bench.size as u64 * 1_000_000_000);
    let cpu = cpu_ns() - cpu_before;
    bench.record("cpu_us", cpu as f64 / 1000.0);
    bench.record("context_switches", context_switches() - switches_before);
}
