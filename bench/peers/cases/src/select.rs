// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Waiting for several channels at once.

use std::future::Future;

use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::mpsc::measure_task;
use crate::{Bench, Channels, Outcome, Receiver, Sender};

type Number = [u64; 1];

/// Which of a few channels has a number first.
pub trait Selects: Channels {
    fn select_2(receivers: &mut [Self::Receiver<Number>; 2]) -> impl Future<Output = u64> + Send;
    fn select_8(receivers: &mut [Self::Receiver<Number>; 8]) -> impl Future<Output = u64> + Send;
}

fn make<S: Selects>(channels: usize) -> (Vec<S::Sender<Number>>, Vec<S::Receiver<Number>>) {
    (0..channels).map(|_| S::bounded(1)).unzip()
}

/// The number i goes through channel i mod n. Gives the senders back, so that no channel
/// is closed before all numbers are received.
async fn send_in_turn<S: Selects>(
    senders: Vec<S::Sender<Number>>,
    count: usize,
) -> Vec<S::Sender<Number>> {
    for i in 0..count {
        senders[i % senders.len()].send([i as u64]).await;
    }
    senders
}

async fn receive_with<V: Receiver<Number>>(mut receiver: V) -> (u64, V) {
    (receiver.receive().await.unwrap()[0], receiver)
}

/// Any number of channels; the sum of the numbers.
async fn select_many<S: Selects>(receivers: Vec<S::Receiver<Number>>, count: usize) -> u64 {
    let mut receiving: FuturesUnordered<_> = receivers.into_iter().map(receive_with).collect();
    let mut sum = 0;
    for _ in 0..count {
        let (number, receiver) = receiving.next().await.unwrap();
        sum += number;
        receiving.push(receive_with(receiver));
    }
    sum
}

async fn select_some<S: Selects>(receivers: Vec<S::Receiver<Number>>, count: usize) -> u64 {
    let mut sum = 0;
    match receivers.len() {
        2 => {
            let mut two = receivers.try_into().ok().unwrap();
            for _ in 0..count {
                sum += S::select_2(&mut two).await;
            }
        }
        8 => {
            let mut eight = receivers.try_into().ok().unwrap();
            for _ in 0..count {
                sum += S::select_8(&mut eight).await;
            }
        }
        _ => return select_many::<S>(receivers, count).await,
    }
    sum
}

/// Runs a row about waiting for several channels.
pub fn selects<S: Selects>(bench: &mut Bench) -> Outcome {
    let runtime = S::start(bench);
    let channels = bench.name().split('_').nth(1).unwrap().parse().unwrap();
    let count = bench.size;
    measure_task(bench, &runtime, count, || async move {
        let (senders, receivers) = make::<S>(channels);
        let sending = S::spawn(send_in_turn::<S>(senders, count));
        let sum = select_some::<S>(receivers, count).await;
        sending.await;
        assert_eq!(sum, count as u64 * (count as u64 - 1) / 2);
    })
}
