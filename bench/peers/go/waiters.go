// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Goroutines that wait until they are let through or notified.

// What they wait at, shut when made.
type gate interface {
	pass()
	open()
}

type mutexGate struct {
	sync.Mutex
	sum int
}

func (g *mutexGate) pass() {
	g.Lock()
	g.sum++
	g.Unlock()
}

func (g *mutexGate) open() { g.Unlock() }

type rwlockGate struct{ sync.RWMutex }

func (g *rwlockGate) pass() {
	g.RLock()
	g.RUnlock()
}

func (g *rwlockGate) open() { g.Unlock() }

type eventGate chan struct{}

func (g eventGate) pass() { <-g }
func (g eventGate) open() { close(g) }

func makeGate(kind string) gate {
	switch kind {
	case "mutex":
		g := new(mutexGate)
		g.Lock()
		return g
	case "rwlock":
		g := new(rwlockGate)
		g.Lock()
		return g
	}
	return make(eventGate)
}

func gatherAndRelease(kind string, waiters int) {
	g := makeGate(kind)
	var arrived atomic.Int64
	var group sync.WaitGroup
	group.Add(waiters)
	for i := 0; i < waiters; i++ {
		go func() {
			arrived.Add(1)
			g.pass()
			group.Done()
		}()
	}
	for arrived.Load() < int64(waiters) {
		runtime.Gosched()
	}
	g.open()
	group.Wait()
}

// Waits b.size times in all, as far as that is whole rounds.
func waiters(b *bench) {
	words := strings.Split(b.name, "_")
	if words[2] == "semaphore" {
		b.unsupported = "no semaphore"
		return
	}
	each, _ := strconv.Atoi(words[1])
	rounds := max(1, b.size/each)
	b.measure(rounds*each, func() {
		for i := 0; i < rounds; i++ {
			gatherAndRelease(words[2], each)
		}
	})
}

// Notifies until so many wakes are counted; lets others run in between.
func notify(b *bench) {
	words := strings.Split(b.name, "_")
	each, _ := strconv.Atoi(words[2])
	var mutex sync.Mutex
	var count atomic.Int64
	cond := sync.NewCond(&mutex)
	for i := 0; i < each; i++ {
		go func() {
			for {
				mutex.Lock()
				cond.Wait()
				mutex.Unlock()
				count.Add(1)
			}
		}()
	}
	tell := cond.Broadcast
	if words[1] == "one" {
		tell = cond.Signal
	}
	b.measure(b.size, func() {
		count.Store(0)
		for count.Load() < int64(b.size) {
			tell()
			runtime.Gosched()
		}
	})
}
