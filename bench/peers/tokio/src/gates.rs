// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! What tasks wait for, shut when made.

use std::hint::black_box;
use std::sync::{Arc, Mutex as StdMutex};

use bench_cases::{waiters, Bench, Gate, Outcome};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, OwnedRwLockWriteGuard, RwLock, Semaphore};

use crate::MultiThread;

struct MutexGate(Arc<Mutex<u64>>, StdMutex<Option<OwnedMutexGuard<u64>>>);

impl Gate for MutexGate {
    fn shut() -> Self {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.clone().try_lock_owned().unwrap();
        Self(mutex, StdMutex::new(Some(guard)))
    }
    async fn pass(&self, arrived: impl FnOnce() + Send) {
        arrived();
        *self.0.lock().await += 1;
    }
    fn open(&self, _waiters: usize) {
        drop(self.1.lock().unwrap().take());
    }
}

struct RwLockGate(Arc<RwLock<u64>>, StdMutex<Option<OwnedRwLockWriteGuard<u64>>>);

impl Gate for RwLockGate {
    fn shut() -> Self {
        let lock = Arc::new(RwLock::new(0));
        let guard = lock.clone().try_write_owned().unwrap();
        Self(lock, StdMutex::new(Some(guard)))
    }
    async fn pass(&self, arrived: impl FnOnce() + Send) {
        arrived();
        black_box(*self.0.read().await);
    }
    fn open(&self, _waiters: usize) {
        drop(self.1.lock().unwrap().take());
    }
}

struct SemaphoreGate(Semaphore);

impl Gate for SemaphoreGate {
    fn shut() -> Self {
        Self(Semaphore::new(0))
    }
    async fn pass(&self, arrived: impl FnOnce() + Send) {
        arrived();
        drop(self.0.acquire().await.unwrap());
    }
    fn open(&self, waiters: usize) {
        self.0.add_permits(waiters);
    }
}

struct EventGate(Notify);

impl Gate for EventGate {
    fn shut() -> Self {
        Self(Notify::new())
    }
    async fn pass(&self, arrived: impl FnOnce() + Send) {
        let notified = self.0.notified();
        arrived();
        notified.await;
    }
    fn open(&self, _waiters: usize) {
        self.0.notify_waiters();
    }
}

/// Runs a row about many who wait.
pub fn gates(bench: &mut Bench) -> Outcome {
    match bench.name().rsplit_once('_').unwrap().1 {
        "mutex" => waiters::<MultiThread, MutexGate>(bench),
        "rwlock" => waiters::<MultiThread, RwLockGate>(bench),
        "semaphore" => waiters::<MultiThread, SemaphoreGate>(bench),
        _ => waiters::<MultiThread, EventGate>(bench),
    }
}
