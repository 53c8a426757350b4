// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Tokio's channels and locks.

use std::future::Future;

use bench_cases::{Channels, Locks, Message, Receiver, Sender};
use tokio::sync::{mpsc, Mutex, Semaphore};

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

impl<T: Message> Sender<T> for Bounded<T> {
    async fn send(&self, message: T) {
        self.0.send(message).await.ok().unwrap();
    }
}

impl<T: Message> Sender<T> for Unbounded<T> {
    async fn send(&self, message: T) {
        self.0.send(message).ok().unwrap();
    }
}

impl<T: Message> Receiver<T> for BoundedReceiver<T> {
    fn receive(&mut self) -> impl Future<Output = Option<T>> + Send {
        self.0.recv()
    }
    fn another(&self) -> Option<Self> {
        None
    }
}

impl<T: Message> Receiver<T> for UnboundedReceiver<T> {
    fn receive(&mut self) -> impl Future<Output = Option<T>> + Send {
        self.0.recv()
    }
    fn another(&self) -> Option<Self> {
        None
    }
}

impl Channels for MultiThread {
    type Sender<T: Message> = Bounded<T>;
    type Receiver<T: Message> = BoundedReceiver<T>;
    type Unbounded<T: Message> = Unbounded<T>;
    type UnboundedReceiver<T: Message> = UnboundedReceiver<T>;

    fn bounded<T: Message>(capacity: usize) -> (Bounded<T>, BoundedReceiver<T>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Bounded(sender), BoundedReceiver(receiver))
    }
    fn unbounded<T: Message>() -> (Unbounded<T>, UnboundedReceiver<T>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Unbounded(sender), UnboundedReceiver(receiver))
    }
}

impl Locks for MultiThread {
    type Mutex = Mutex<u64>;
    type Semaphore = Semaphore;

    fn mutex() -> Mutex<u64> {
        Mutex::new(0)
    }
    async fn add(mutex: &Mutex<u64>) -> u64 {
        let mut guard = mutex.lock().await;
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
