// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! The crates async-broadcast and event-listener.

use std::future::Future;

use async_broadcast::{broadcast, InactiveReceiver, Receiver, Sender};
use bench_cases::{Signals, Telling};
use event_listener::{Event, IntoNotification};

use crate::MultiThread;

impl Signals for MultiThread {
    type Signal = Event;

    fn signal() -> Event {
        Event::new()
    }
    fn notify_one(signal: &Event) {
        signal.notify(1.additional());
    }
    fn notify_all(signal: &Event) {
        signal.notify(usize::MAX);
    }
    fn wait(signal: &Event) -> impl Future<Output = ()> + Send {
        signal.listen()
    }
}

pub struct Broadcast(Sender<u64>, InactiveReceiver<u64>);

impl Telling for Broadcast {
    type Hearer = Receiver<u64>;

    fn new() -> Self {
        let (sender, receiver) = broadcast(1000);
        Self(sender, receiver.deactivate())
    }
    fn subscribe(&self) -> Self::Hearer {
        self.1.activate_cloned()
    }
    async fn tell(&self, number: u64) {
        self.0.broadcast_direct(number).await.unwrap();
    }
    async fn hear(hearer: &mut Self::Hearer) -> Option<u64> {
        hearer.recv_direct().await.ok()
    }
}
