// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Tokio's channels and locks.

use std::future::Future;

use bench_cases::{Channels, Locks, Receiver, Requests, Selects, Sender};
use tokio::sync::{mpsc, oneshot, Mutex, RwLock, Semaphore};

use crate::MultiThread;

pub struct Bounded<T>(mpsc::Sender<T>);
pub struct BoundedReceiver<T>(mpsc::Receiver<T>);
pub struct Unbounded<T>(mpsc::UnboundedSender<T>);
pub struct UnboundedReceiver<T>(mpsc::UnboundedReceiver<T>);

impl<T> Clone for Bounded<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for Unbounded<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send + 'static> Sender<T> for Bounded<T> {
    async fn send(&self, message: T) {
        self.0.send(message).await.ok().unwrap();
    }
}

impl<T: Send + 'static> Sender<T> for Unbounded<T> {
    async fn send(&self, message: T) {
        self.0.send(message).ok().unwrap();
    }
}

impl<T: Send + 'static> Receiver<T> for BoundedReceiver<T> {
    fn receive(&mut self) -> impl Future<Output = Option<T>> + Send {
        self.0.recv()
    }
    fn receive_many(
        &mut self,
        messages: &mut Vec<T>,
        limit: usize,
    ) -> impl Future<Output = usize> + Send {
        self.0.recv_many(messages, limit)
    }
    fn another(&self) -> Option<Self> {
        None
    }
}

impl<T: Send + 'static> Receiver<T> for UnboundedReceiver<T> {
    fn receive(&mut self) -> impl Future<Output = Option<T>> + Send {
        self.0.recv()
    }
    fn receive_many(
        &mut self,
        messages: &mut Vec<T>,
        limit: usize,
    ) -> impl Future<Output = usize> + Send {
        self.0.recv_many(messages, limit)
    }
    fn another(&self) -> Option<Self> {
        None
    }
}

impl Channels for MultiThread {
    type Sender<T: Send + 'static> = Bounded<T>;
    type Receiver<T: Send + 'static> = BoundedReceiver<T>;
    type Unbounded<T: Send + 'static> = Unbounded<T>;
    type UnboundedReceiver<T: Send + 'static> = UnboundedReceiver<T>;

    const RECEIVES_MANY: bool = true;

    fn bounded<T: Send + 'static>(capacity: usize) -> (Bounded<T>, BoundedReceiver<T>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Bounded(sender), BoundedReceiver(receiver))
    }
    fn unbounded<T: Send + 'static>() -> (Unbounded<T>, UnboundedReceiver<T>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Unbounded(sender), UnboundedReceiver(receiver))
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
    ($($receiver:ident)*) => {
        tokio::select! { $(Some([number]) = $receiver.0.recv() => number,)* else => panic!() }
    };
}

impl Selects for MultiThread {
    async fn select_2([a, b]: &mut [BoundedReceiver<[u64; 1]>; 2]) -> u64 {
        select!(a b)
    }
    async fn select_8([a, b, c, d, e, f, g, h]: &mut [BoundedReceiver<[u64; 1]>; 8]) -> u64 {
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
        let _permit = semaphore.acquire().await.unwrap();
        if yields {
            tokio::task::yield_now().await;
        }
    }
}
