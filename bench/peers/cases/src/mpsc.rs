// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Channels with one receiver, as Tokio's sync_mpsc has them, and oneshots.

use std::future::Future;

use crate::sync::make_many;
use crate::{Bench, Channels, Message, Outcome, Receiver, Runtime, Sender};

const SENDERS: usize = 5;
const MILLION: usize = 1_000_000;

/// Measures a task, from its spawning to its end.
pub(crate) fn measure_task<R: Runtime, F>(
    bench: &mut Bench,
    runtime: &R,
    ops: usize,
    make: impl Fn() -> F,
) -> Outcome
where
    F: Future<Output = ()> + Send + 'static,
{
    bench.measure(ops, || runtime.block_on(runtime.spawn_outside(make())));
    Outcome::Done
}

fn make_send_receive<C: Channels, T: Message>(bench: &mut Bench) -> Outcome {
    let runtime = C::start(bench);
    let count = bench.size;
    measure_task(bench, &runtime, count, || async move {
        for i in 0..count {
            let (sender, mut receiver) = C::bounded::<T>(1000);
            sender.send(T::make(i as u64)).await;
            receiver.receive().await.unwrap();
        }
    })
}

async fn send_some<S: Sender<[u64; 1]>>(sender: S, count: usize) {
    for i in 0..count {
        sender.send([i as u64]).await;
    }
}

async fn receive_some<V: Receiver<[u64; 1]>>(mut receiver: V, count: usize, many: bool) {
    let mut messages = Vec::new();
    let mut received = 0;
    while received < count {
        if many {
            messages.clear();
            received += receiver.receive_many(&mut messages, count).await;
        } else {
            receiver.receive().await.unwrap();
            received += 1;
        }
    }
}

fn contention<R, S, V>(bench: &mut Bench, many: bool, make: impl Fn() -> (S, V)) -> Outcome
where
    R: Runtime,
    S: Sender<[u64; 1]>,
    V: Receiver<[u64; 1]>,
{
    let runtime = R::start(bench);
    let each = bench.size / SENDERS;
    measure_task(bench, &runtime, SENDERS * each, || {
        let (sender, receiver) = make();
        async move {
            let sending: Vec<_> =
                (0..SENDERS).map(|_| R::spawn(send_some(sender.clone(), each))).collect();
            receive_some(receiver, SENDERS * each, many).await;
            for handle in sending {
                handle.await;
            }
        }
    })
}

fn uncontended<R, S, V>(bench: &mut Bench, many: bool, make: impl Fn() -> (S, V)) -> Outcome
where
    R: Runtime,
    S: Sender<[u64; 1]>,
    V: Receiver<[u64; 1]>,
{
    let runtime = R::start(bench);
    let count = bench.size;
    measure_task(bench, &runtime, count, || {
        let (sender, receiver) = make();
        async move {
            send_some(sender, count).await;
            receive_some(receiver, count, many).await;
        }
    })
}

/// Runs a row about channels with one receiver.
pub fn mpsc<C: Channels>(bench: &mut Bench) -> Outcome {
    let name = bench.name().to_string();
    let words: Vec<&str> = name.split('_').skip(1).collect();
    let many = words.last() == Some(&"many");
    if many && !C::RECEIVES_MANY {
        return Outcome::Unsupported("receives one message at a time");
    }
    match words[..2] {
        ["create", capacity] => {
            let capacity = capacity.parse().unwrap();
            make_many(bench, || C::bounded::<[u64; 64]>(capacity))
        }
        ["send", "512"] => make_send_receive::<C, [u64; 64]>(bench),
        ["send", _] => make_send_receive::<C, [u64; 4096]>(bench),
        ["contention", "bounded"] => contention::<C, _, _>(bench, many, || C::bounded(MILLION)),
        ["contention", "full"] => contention::<C, _, _>(bench, many, || C::bounded(100)),
        ["contention", _] => contention::<C, _, _>(bench, many, C::unbounded),
        ["uncontended", "bounded"] => uncontended::<C, _, _>(bench, many, || C::bounded(MILLION)),
        ["uncontended", _] => uncontended::<C, _, _>(bench, many, C::unbounded),
        _ => Outcome::NoSuchCase,
    }
}

/// Oneshots whose sender has a name, so that it can be sent.
pub trait Requests: Channels {
    type Reply: Send + 'static;

    fn request() -> (Self::Reply, impl Future<Output = u64> + Send);
    fn reply(to: Self::Reply, number: u64);
}

pub fn oneshot<Q: Requests>(bench: &mut Bench) -> Outcome {
    let runtime = Q::start(bench);
    let count = bench.size;
    measure_task(bench, &runtime, count, || async move {
        for i in 0..count as u64 {
            let (sender, receiver) = Q::request();
            Q::reply(sender, i);
            assert_eq!(receiver.await, i);
        }
    })
}

pub fn request_reply<Q: Requests>(bench: &mut Bench) -> Outcome {
    let runtime = Q::start(bench);
    let count = bench.size;
    measure_task(bench, &runtime, count, || async move {
        let (sender, mut receiver) = Q::bounded::<Q::Reply>(10);
        let replying = Q::spawn(async move {
            let mut number = 0;
            while let Some(request) = receiver.receive().await {
                Q::reply(request, number);
                number += 1;
            }
        });
        for i in 0..count as u64 {
            let (request, reply) = Q::request();
            sender.send(request).await;
            assert_eq!(reply.await, i);
        }
        drop(sender);
        replying.await;
    })
}
