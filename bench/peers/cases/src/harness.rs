// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! The protocol of a benchmark program: arguments, measuring, a line of JSON.

use std::fmt::Write;
use std::time::Instant;

/// What became of a case.
pub enum Outcome {
    Done,
    NoSuchCase,
    /// The runtime has nothing like it; why.
    Unsupported(&'static str),
}

pub struct Bench {
    name: String,
    pub workers: usize,
    pub size: usize,
    pub iterations: usize,
    pub io: bool,
    records: Vec<(String, f64)>,
}

impl Bench {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls `iteration`, which does `ops` operations, once to warm up and then
    /// as often as asked.
    pub fn measure(&mut self, ops: usize, mut iteration: impl FnMut()) {
        iteration();
        let mut walls = Vec::new();
        let cpu_before = cpu_ns();
        for _ in 0..self.iterations {
            let before = Instant::now();
            iteration();
            walls.push(before.elapsed().as_nanos() as u64);
        }
        let cpu = (cpu_ns() - cpu_before) as f64;
        let n = ops as f64;
        walls.sort_unstable();
        self.record("ns_per_op", percentile(&walls, 0.5) as f64 / n);
        self.record("min", walls[0] as f64 / n);
        self.record("ops", n);
        self.record("cpu_ns_per_op", cpu / n / self.iterations as f64);
    }

    pub fn record_latency(&mut self, mut ns: Vec<u64>) {
        ns.sort_unstable();
        for (key, p) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
            self.record(key, percentile(&ns, p) as f64);
        }
    }

    /// The median, by so many operations.
    pub fn record_median(&mut self, key: &str, mut ns: Vec<u64>, ops: usize) {
        ns.sort_unstable();
        self.record(key, percentile(&ns, 0.5) as f64 / ops as f64);
    }

    pub fn record(&mut self, key: &str, value: f64) {
        self.records.push((key.to_string(), value));
    }
}

fn percentile(sorted: &[u64], p: f64) -> u64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted[rank.max(1) - 1]
}

pub fn now() -> Instant {
    Instant::now()
}

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
}

/// The processor time of all threads so far.
pub fn cpu_ns() -> u64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// The sum of the fields of a status file whose name ends in `field`.
pub fn read_status(path: &str, field: &str) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let values = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let number = value.split_whitespace().next()?;
        name.ends_with(field).then(|| number.parse::<f64>().ok())?
    });
    values.sum()
}

fn parse() -> Option<Bench> {
    let mut bench = Bench {
        name: std::env::args().nth(1)?,
        workers: 2,
        size: 1000,
        iterations: 10,
        io: false,
        records: Vec::new(),
    };
    for argument in std::env::args().skip(2) {
        match argument.split_once('=') {
            None if argument == "--io" => bench.io = true,
            Some(("--workers", n)) => bench.workers = n.parse().ok()?,
            Some(("--size", n)) => bench.size = n.parse().ok()?,
            Some(("--iterations", n)) => bench.iterations = n.parse().ok()?,
            _ => return None,
        }
    }
    Some(bench)
}

/// A program's main function.
pub fn run_case(run: impl FnOnce(&mut Bench) -> Outcome) {
    let Some(mut bench) = parse() else {
        eprintln!("usage: CASE --workers=N --size=N --iterations=N [--io]");
        std::process::exit(2);
    };
    let outcome = run(&mut bench);
    let mut json = format!("{{\"case\":\"{}\"", bench.name);
    match outcome {
        Outcome::NoSuchCase => {
            eprintln!("no such case: {}", bench.name);
            std::process::exit(2);
        }
        Outcome::Unsupported(reason) => {
            write!(json, ",\"unsupported\":\"{reason}\"").unwrap();
        }
        Outcome::Done => {
            for (key, value) in &bench.records {
                write!(json, ",\"{key}\":{value}").unwrap();
            }
        }
    }
    println!("{json},\"max_rss_kb\":{}}}", read_status("/proc/self/status", "VmHWM"));
    // Without waiting for threads and tasks.
    std::process::exit(0);
}
