// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Tokio's broadcasts, watches and notifications.

use std::future::Future;

use bench_cases::{Signals, Telling};
use tokio::sync::{broadcast, watch, Notify};

use crate::MultiThread;

impl Signals for MultiThread {
    type Signal = Notify;

    fn signal() -> Notify {
        Notify::new()
    }
    fn notify_one(signal: &Notify) {
        signal.notify_one();
    }
    fn notify_all(signal: &Notify) {
        signal.notify_waiters();
    }
    fn wait(signal: &Notify) -> impl Future<Output = ()> + Send {
        signal.notified()
    }
}

pub struct Broadcast(broadcast::Sender<u64>);

impl Telling for Broadcast {
    type Hearer = broadcast::Receiver<u64>;

    fn new() -> Self {
        Self(broadcast::channel(1000).0)
    }
    fn subscribe(&self) -> Self::Hearer {
        self.0.subscribe()
    }
    async fn tell(&self, number: u64) {
        self.0.send(number).unwrap();
    }
    async fn hear(hearer: &mut Self::Hearer) -> Option<u64> {
        hearer.recv().await.ok()
    }
}

pub struct Watch(watch::Sender<u64>);

impl Telling for Watch {
    type Hearer = watch::Receiver<u64>;

    fn new() -> Self {
        Self(watch::channel(0).0)
    }
    fn subscribe(&self) -> Self::Hearer {
        self.0.subscribe()
    }
    async fn tell(&self, number: u64) {
        self.0.send(number).unwrap();
    }
    async fn hear(hearer: &mut Self::Hearer) -> Option<u64> {
        hearer.changed().await.ok()?;
        Some(*hearer.borrow())
    }
}
