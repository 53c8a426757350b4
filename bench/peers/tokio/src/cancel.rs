// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! tokio-util's cancellation tokens.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

use bench_cases::{now, Bench, Outcome, Runtime};
use tokio_util::sync::CancellationToken;

use crate::MultiThread;

const CHILDREN: usize = 10;

/// Node i is the parent of 10 i + 1 to 10 i + 10; node 0 is the root.
fn make_tree(size: usize) -> Vec<CancellationToken> {
    let mut nodes = Vec::with_capacity(size);
    nodes.push(CancellationToken::new());
    for i in 1..size {
        nodes.push(nodes[(i - 1) / CHILDREN].child_token());
    }
    nodes
}

/// How long it took until all knew that the root was cancelled.
async fn make_and_cancel(size: usize) -> u64 {
    let nodes = make_tree(size);
    let waiting = Arc::new(AtomicUsize::new(0));
    let mut handles = Vec::new();
    for leaf in &nodes[(size - 2) / CHILDREN + 1..] {
        let (token, waiting) = (leaf.clone(), waiting.clone());
        handles.push(MultiThread::spawn(async move {
            waiting.fetch_add(1, SeqCst);
            token.cancelled().await;
        }));
    }
    while waiting.load(SeqCst) < handles.len() {
        MultiThread::yield_now().await;
    }
    let before = now();
    nodes[0].cancel();
    for handle in handles {
        handle.await;
    }
    before.elapsed().as_nanos() as u64
}

/// Records the whole, and as cancel_ns_per_op only from the call of cancel() on.
pub fn cancel_tree(bench: &mut Bench) -> Outcome {
    let runtime = MultiThread::start(bench);
    let size = bench.size;
    let mut cancelling = Vec::new();
    bench.measure(size, || {
        cancelling.push(runtime.block_on(runtime.spawn_outside(make_and_cancel(size))));
    });
    bench.record_median("cancel_ns_per_op", cancelling.split_off(1), size);
    Outcome::Done
}
