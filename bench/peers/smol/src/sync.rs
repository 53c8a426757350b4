// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! smol's channels and locks: the crates async-channel and async-lock.

use bench_cases::{Channels, Locks, Message, Receiver, Sender};
use smol::channel;
use smol::lock::{Mutex, Semaphore};

use crate::MultiThread;

pub struct Ends<T>(channel::Sender<T>);
pub struct Receives<T>(channel::Receiver<T>);

impl<T> Clone for Ends<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Message> Sender<T> for Ends<T> {
    async fn send(&self, message: T) {
        self.0.send(message).await.ok().unwrap();
    }
}

impl<T: Message> Receiver<T> for Receives<T> {
    async fn receive(&mut self) -> Option<T> {
        self.0.recv().await.ok()
    }
    fn another(&self) -> Option<Self> {
        Some(Self(self.0.clone()))
    }
}

fn wrap<T>((sender, receiver): (channel::Sender<T>, channel::Receiver<T>)) -> (Ends<T>, Receives<T>) {
    (Ends(sender), Receives(receiver))
}

impl Channels for MultiThread {
    type Sender<T: Message> = Ends<T>;
    type Receiver<T: Message> = Receives<T>;
    type Unbounded<T: Message> = Ends<T>;
    type UnboundedReceiver<T: Message> = Receives<T>;

    fn bounded<T: Message>(capacity: usize) -> (Ends<T>, Receives<T>) {
        wrap(channel::bounded(capacity))
    }
    fn unbounded<T: Message>() -> (Ends<T>, Receives<T>) {
        wrap(channel::unbounded())
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
        let _permit = semaphore.acquire().await;
        if yields {
            futures_lite::future::yield_now().await;
        }
    }
}
