// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Spawning, yielding, waking. What joins is a WaitGroup.

func yieldTimes(n int) {
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
}

// Computes for 10 us.
func stall() {
	start := time.Now()
	for time.Since(start) < 10*time.Microsecond {
	}
}

// Runs n goroutines and waits for them.
func spawnAndJoin(n int, work func()) {
	var group sync.WaitGroup
	group.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			work()
			group.Done()
		}()
	}
	group.Wait()
}

func nothing() {}

// Goroutines that count down; the last one tells the spawner.
func spawnManyLocal(b *bench) {
	done := make(chan struct{}, 1)
	b.measure(b.size, func() {
		var left atomic.Int64
		left.Store(int64(b.size))
		for i := 0; i < b.size; i++ {
			go func() {
				if left.Add(-1) == 0 {
					done <- struct{}{}
				}
			}()
		}
		<-done
	})
}

func yieldMany(b *bench) {
	const yields = 1000
	b.measure(b.size*yields, func() {
		spawnAndJoin(b.size, func() { yieldTimes(yields) })
	})
}

func pingPong(b *bench) {
	b.measure(b.size, func() {
		spawnAndJoin(b.size, func() {
			ping := make(chan struct{}, 1)
			pong := make(chan struct{}, 1)
			go func() {
				<-ping
				pong <- struct{}{}
			}()
			ping <- struct{}{}
			<-pong
		})
	})
}

func chain(left int, done chan struct{}) {
	if left == 0 {
		done <- struct{}{}
		return
	}
	go chain(left-1, done)
}

func chainedSpawn(b *bench) {
	done := make(chan struct{}, 1)
	b.measure(b.size, func() {
		go chain(b.size, done)
		<-done
	})
}

func flatSpawn(b *bench) {
	b.measure(b.size, func() { spawnAndJoin(b.size, nothing) })
}

func recurse(depth int) {
	if depth == 0 {
		return
	}
	spawnAndJoin(1, func() { recurse(depth - 1) })
}

func spawnRecursively(b *bench) {
	n := b.size
	b.measure(n*(n+1), func() { spawnAndJoin(n, func() { recurse(n) }) })
}

func yieldNow(b *bench) {
	n := b.size
	b.measure(n*n, func() { spawnAndJoin(n, func() { yieldTimes(n) }) })
}
