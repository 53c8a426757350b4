// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! smol's channels and locks: the crates async-channel and async-lock.

use std::future::Future;

use bench_cases::{Channels, Locks, Receiver, Requests, Selects, Sender};
use futures_channel::oneshot;
use futures_util::{pin_mut, FutureExt};
use smol::channel;
use smol::lock::{Mutex, RwLock, Semaphore};

use crate::MultiThread;

pub struct Ends<T>(channel::Sender<T>);
pub struct Receives<T>(channel::Receiver<T>);

impl<T> Clone for Ends<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send + 'static> Sender<T> for Ends<T> {
    async fn send(&self, message: T) {
        self.0.send(message).await.ok().unwrap();
    }
}

impl<T: Send + 'static> Receiver<T> for Receives<T> {
    async fn receive(&mut self) -> Option<T> {
        self.0.recv().await.ok()
    }
    async fn receive_many(&mut self, _messages: &mut Vec<T>, _limit: usize) -> usize {
        unimplemented!()
    }
    fn another(&self) -> Option<Self> {
        Some(Self(self.0.clone()))
    }
}

fn wrap<T>(
    (sender, receiver): (channel::Sender<T>, channel::Receiver<T>),
) -> (Ends<T>, Receives<T>) {
    (Ends(sender), Receives(receiver))
}

impl Channels for MultiThread {
    type Sender<T: Send + 'static> = Ends<T>;
    type Receiver<T: Send + 'static> = Receives<T>;
    type Unbounded<T: Send + 'static> = Ends<T>;
    type UnboundedReceiver<T: Send + 'static> = Receives<T>;

    const RECEIVES_MANY: bool = false;

    fn bounded<T: Send + 'static>(capacity: usize) -> (Ends<T>, Receives<T>) {
        wrap(channel::bounded(capacity))
    }
    fn unbounded<T: Send + 'static>() -> (Ends<T>, Receives<T>) {
        wrap(channel::unbounded())
    }
}

impl Requests for MultiThread {
    type Reply = oneshot::Sender<u64>;

    fn request() -> (Self::Reply, impl Future<Output = u64> + Send) {
        let (sender, receiver) = oneshot::channel();
        (sender, async move { receiver.await.unwrap() })
    }
    fn reply(to: Self::Reply, number: u64) {
        to.send(number).unwrap();
    }
}

macro_rules! select {
    ($($receiver:ident)*) => {{
        $(
            let $receiver = $receiver.0.recv().fuse();
            pin_mut!($receiver);
        )*
        futures_util::select! { $(number = $receiver => number.unwrap()[0],)* }
    }};
}

impl Selects for MultiThread {
    async fn select_2([a, b]: &mut [Receives<[u64; 1]>; 2]) -> u64 {
        select!(a b)
    }
    async fn select_8([a, b, c, d, e, f, g, h]: &mut [Receives<[u64; 1]>; 8]) -> u64 {
        select!(a b c d e f g h)
    }
}

impl Locks for MultiThread {
    type Mutex = Mutex<u64>;
    type RwLock = RwLock<u64>;
    type Semaphore = Semaphore;

    fn mutex() -> Mutex<u64> {
        Mutex::new(0)
    }
    async fn add(mutex: &Mutex<u64>) -> u64 {
        let mut guard = mutex.lock().await;
        *guard += 1;
        *guard
    }
    fn rwlock() -> RwLock<u64> {
        RwLock::new(0)
    }
    async fn read(lock: &RwLock<u64>) -> u64 {
        *lock.read().await
    }
    async fn write(lock: &RwLock<u64>) -> u64 {
        let mut guard = lock.write().await;
        *guard += 1;
        *guard
    }
    fn semaphore(permits: usize) -> Semaphore {
        Semaphore::new(permits)
    }
    async fn acquire(semaphore: &Semaphore, yields: bool) {
        let _permit = semaphore.acquire().await;
        if yields {
            futures_lite::future::yield_now().await;
        }
    }
}
