// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Channels and locks, generic over those of a Rust runtime. The names of the rows
//! are explained in bench/sync/cases.txt.

use std::future::Future;
use std::hint::black_box;

use crate::harness::read_status;
use crate::mpsc::measure_task;
use crate::{Bench, Outcome, Runtime};

/// A message that carries a number.
pub trait Message: Send + 'static {
    fn make(number: u64) -> Self;
    fn number(&self) -> u64;
}

impl<const WORDS: usize> Message for [u64; WORDS] {
    fn make(number: u64) -> Self {
        let mut message = [0; WORDS];
        message[0] = number;
        message
    }
    fn number(&self) -> u64 {
        self[0]
    }
}

pub trait Sender<T>: Clone + Send + Sync + 'static {
    fn send(&self, message: T) -> impl Future<Output = ()> + Send;
}

pub trait Receiver<T>: Sized + Send + 'static {
    /// None once the channel is closed.
    fn receive(&mut self) -> impl Future<Output = Option<T>> + Send;
    /// Adds up to `limit` messages, at least one; only if Channels::RECEIVES_MANY.
    fn receive_many(
        &mut self,
        messages: &mut Vec<T>,
        limit: usize,
    ) -> impl Future<Output = usize> + Send;
    /// One more of the same channel, if there may be.
    fn another(&self) -> Option<Self>;
}

/// What a runtime brings along.
pub trait Channels: Runtime + Sync {
    type Sender<T: Send + 'static>: Sender<T>;
    type Receiver<T: Send + 'static>: Receiver<T>;
    type Unbounded<T: Send + 'static>: Sender<T>;
    type UnboundedReceiver<T: Send + 'static>: Receiver<T>;

    const RECEIVES_MANY: bool;

    fn bounded<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>);
    fn unbounded<T: Send + 'static>() -> (Self::Unbounded<T>, Self::UnboundedReceiver<T>);
}

/// Locks that a task waits for.
pub trait Locks: Runtime + Sync {
    type Mutex: Send + Sync + 'static;
    type RwLock: Send + Sync + 'static;
    type Semaphore: Send + Sync + 'static;

    fn mutex() -> Self::Mutex;
    /// Locks, adds one to what is inside, unlocks; then the sum.
    fn add(mutex: &Self::Mutex) -> impl Future<Output = u64> + Send;
    fn rwlock() -> Self::RwLock;
    /// Reads or adds one to what is inside, and gives it.
    fn read(lock: &Self::RwLock) -> impl Future<Output = u64> + Send;
    fn write(lock: &Self::RwLock) -> impl Future<Output = u64> + Send;
    fn semaphore(permits: usize) -> Self::Semaphore;
    /// Acquires a permit, yields if asked to, gives it back.
    fn acquire(semaphore: &Self::Semaphore, yields: bool) -> impl Future<Output = ()> + Send;
}

async fn send_some<T: Message, S: Sender<T>>(sender: S, count: usize) {
    for i in 0..count {
        sender.send(T::make(i as u64 + 1)).await;
    }
}

async fn receive_all<T: Message, V: Receiver<T>>(mut receiver: V) -> u64 {
    let mut sum = 0;
    while let Some(message) = receiver.receive().await {
        sum += message.number();
    }
    sum
}

fn send_and_receive<R: Runtime, T: Message, S: Sender<T>, V: Receiver<T>>(
    bench: &mut Bench,
    senders: usize,
    receivers: usize,
    make: impl Fn() -> (S, V),
) -> Outcome {
    let runtime = R::start(bench);
    if receivers > 1 && make().1.another().is_none() {
        return Outcome::Unsupported("its channels have one receiver");
    }
    let count = bench.size;
    bench.measure(count, || {
        let (sender, receiver) = make();
        runtime.block_on(runtime.spawn_outside(async move {
            let mut receiving = Vec::new();
            for _ in 1..receivers {
                receiving.push(R::spawn(receive_all(receiver.another().unwrap())));
            }
            receiving.push(R::spawn(receive_all(receiver)));
            let mut sending = Vec::new();
            for _ in 0..senders {
                sending.push(R::spawn(send_some(sender.clone(), count / senders)));
            }
            drop(sender);
            for handle in sending {
                handle.await;
            }
            let mut sum = 0;
            for handle in receiving {
                sum += handle.await;
            }
            let each = (count / senders) as u64;
            assert_eq!(sum, senders as u64 * each * (each + 1) / 2);
        }));
    });
    Outcome::Done
}

fn shape<C: Channels, T: Message>(
    bench: &mut Bench,
    senders: usize,
    receivers: usize,
    capacity: &str,
) -> Outcome {
    match capacity.parse() {
        Ok(capacity) => {
            send_and_receive::<C, T, _, _>(bench, senders, receivers, || C::bounded(capacity))
        }
        Err(_) => send_and_receive::<C, T, _, _>(bench, senders, receivers, C::unbounded),
    }
}

fn uncontended<C: Channels>(bench: &mut Bench) -> Outcome {
    let runtime = C::start(bench);
    let count = bench.size;
    bench.measure(count, || {
        runtime.block_on(runtime.spawn_outside(async move {
            let (sender, mut receiver) = C::bounded::<[u64; 1]>(64);
            for i in 0..count {
                sender.send([i as u64]).await;
                assert_eq!(receiver.receive().await, Some([i as u64]));
            }
        }));
    });
    Outcome::Done
}

fn ping_pong<C: Channels>(bench: &mut Bench) -> Outcome {
    let runtime = C::start(bench);
    let count = bench.size;
    bench.measure(count, || {
        runtime.block_on(runtime.spawn_outside(async move {
            let (there, mut arrived) = C::bounded::<[u64; 1]>(1);
            let (back, mut returned) = C::bounded::<[u64; 1]>(1);
            let echo = C::spawn(async move {
                while let Some(message) = arrived.receive().await {
                    back.send(message).await;
                }
            });
            for i in 0..count {
                there.send([i as u64]).await;
                assert_eq!(returned.receive().await, Some([i as u64]));
            }
            drop(there);
            echo.await;
        }));
    });
    Outcome::Done
}

async fn pass_on<C: Channels>(
    mut from: C::Receiver<[u64; 1]>,
    to: C::Sender<[u64; 1]>,
    count: usize,
) {
    for _ in 0..count {
        let message = from.receive().await.unwrap();
        to.send(message).await;
    }
}

/// `length` messages, one at a time, through as many tasks.
async fn send_through<C: Channels>(length: usize) {
    let (first, mut last) = C::bounded::<[u64; 1]>(1);
    let mut handles = Vec::new();
    for _ in 0..length {
        let (sender, receiver) = C::bounded(1);
        let from = std::mem::replace(&mut last, receiver);
        handles.push(C::spawn(pass_on::<C>(from, sender, length)));
    }
    for i in 0..length as u64 {
        first.send([i]).await;
        assert_eq!(last.receive().await, Some([i]));
    }
    for handle in handles {
        handle.await;
    }
}

fn chain<C: Channels>(bench: &mut Bench) -> Outcome {
    let runtime = C::start(bench);
    let length = bench.size;
    measure_task(bench, &runtime, length * length, || send_through::<C>(length))
}

pub(crate) fn make_many<S, V>(bench: &mut Bench, make: impl Fn() -> (S, V)) -> Outcome {
    let count = bench.size;
    bench.measure(count, || {
        for _ in 0..count {
            black_box(make());
        }
    });
    Outcome::Done
}

fn bytes<S, V>(bench: &mut Bench, make: impl Fn() -> (S, V)) -> Outcome {
    let mut channels = Vec::with_capacity(bench.size);
    let before = read_status("/proc/self/status", "VmRSS");
    channels.extend((0..bench.size).map(|_| make()));
    let kib = read_status("/proc/self/status", "VmRSS") - before;
    let each = kib as f64 * 1024.0 / bench.size as f64;
    bench.record("bytes", each - std::mem::size_of::<(S, V)>() as f64);
    std::mem::forget(channels);
    Outcome::Done
}

/// Runs a row about channels.
pub fn channels<C: Channels>(bench: &mut Bench) -> Outcome {
    let name = bench.name().to_string();
    let words: Vec<&str> = name.split('_').collect();
    match words[1..] {
        ["uncontended"] => uncontended::<C>(bench),
        ["chain"] => chain::<C>(bench),
        ["ping", "pong"] => ping_pong::<C>(bench),
        ["create", "u"] => make_many(bench, C::unbounded::<[u64; 1]>),
        ["create", capacity] => {
            let capacity = capacity.parse().unwrap();
            make_many(bench, || C::bounded::<[u64; 1]>(capacity))
        }
        ["bytes", "u"] => bytes(bench, C::unbounded::<[u64; 1]>),
        ["bytes", capacity] => {
            let capacity = capacity.parse().unwrap();
            bytes(bench, || C::bounded::<[u64; 1]>(capacity))
        }
        [ends, capacity, size] => {
            let (senders, receivers) = ends.split_once('x').unwrap();
            let (senders, receivers) = (senders.parse().unwrap(), receivers.parse().unwrap());
            match size {
                "8" => shape::<C, [u64; 1]>(bench, senders, receivers, capacity),
                _ => shape::<C, [u64; 64]>(bench, senders, receivers, capacity),
            }
        }
        _ => Outcome::NoSuchCase,
    }
}

/// `tasks` tasks do something `count` times in all.
fn in_tasks<R: Runtime + Sync, F: Future<Output = ()> + Send + 'static>(
    bench: &mut Bench,
    tasks: usize,
    make: impl Fn(usize) -> F,
) -> Outcome {
    let runtime = R::start(bench);
    let count = bench.size;
    bench.measure(count, || {
        let futures: Vec<F> = (0..tasks).map(|_| make(count / tasks)).collect();
        runtime.block_on(runtime.spawn_outside(async move {
            let handles: Vec<_> = futures.into_iter().map(R::spawn).collect();
            for handle in handles {
                handle.await;
            }
        }));
    });
    Outcome::Done
}

/// Yields with a permit if there are too few for all.
fn semaphore<L: Locks>(bench: &mut Bench, tasks: usize, permits: usize) -> Outcome {
    let semaphore: &'static L::Semaphore = Box::leak(Box::new(L::semaphore(permits)));
    in_tasks::<L, _>(bench, tasks, move |n| async move {
        for _ in 0..n {
            L::acquire(semaphore, permits < tasks).await;
        }
    })
}

/// Runs a row about locks.
pub fn locks<L: Locks>(bench: &mut Bench) -> Outcome {
    let name = bench.name().to_string();
    let (lock, tasks) = name.rsplit_once('_').unwrap();
    let tasks: usize = tasks.parse().unwrap();
    match lock {
        "mutex" => {
            let mutex: &'static L::Mutex = Box::leak(Box::new(L::mutex()));
            in_tasks::<L, _>(bench, tasks, |n| async move {
                for _ in 0..n {
                    black_box(L::add(mutex).await);
                }
            })
        }
        "rwlock_read" => {
            let lock: &'static L::RwLock = Box::leak(Box::new(L::rwlock()));
            in_tasks::<L, _>(bench, tasks, move |n| async move {
                for _ in 0..n {
                    black_box(L::read(lock).await);
                }
            })
        }
        "rwlock_write" => {
            let lock: &'static L::RwLock = Box::leak(Box::new(L::rwlock()));
            in_tasks::<L, _>(bench, tasks, move |n| async move {
                for _ in 0..n {
                    black_box(L::write(lock).await);
                }
            })
        }
        "semaphore" if tasks > 1 => semaphore::<L>(bench, tasks, tasks - 1),
        "semaphore" | "semaphore_uncontended" => semaphore::<L>(bench, tasks, tasks),
        _ => Outcome::NoSuchCase,
    }
}
