// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Waiting for several channels at once, and cancelling.

func selectTwo(c []chan uint64, count int) (sum uint64) {
	for i := 0; i < count; i++ {
		select {
		case n := <-c[0]:
			sum += n
		case n := <-c[1]:
			sum += n
		}
	}
	return sum
}

func selectEight(c []chan uint64, count int) (sum uint64) {
	for i := 0; i < count; i++ {
		select {
		case n := <-c[0]:
			sum += n
		case n := <-c[1]:
			sum += n
		case n := <-c[2]:
			sum += n
		case n := <-c[3]:
			sum += n
		case n := <-c[4]:
			sum += n
		case n := <-c[5]:
			sum += n
		case n := <-c[6]:
			sum += n
		case n := <-c[7]:
			sum += n
		}
	}
	return sum
}

func selectMany(c []chan uint64, count int) (sum uint64) {
	receiving := make([]reflect.SelectCase, len(c))
	for i := range c {
		receiving[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c[i])}
	}
	for i := 0; i < count; i++ {
		_, n, _ := reflect.Select(receiving)
		sum += n.Uint()
	}
	return sum
}

func selects(b *bench) {
	n, _ := strconv.Atoi(strings.Split(b.name, "_")[1])
	receive := map[int]func([]chan uint64, int) uint64{2: selectTwo, 8: selectEight, 64: selectMany}[n]
	b.measure(b.size, func() {
		channels := make([]chan uint64, n)
		for i := range channels {
			channels[i] = make(chan uint64, 1)
		}
		go func() {
			for i := 0; i < b.size; i++ {
				channels[i%n] <- uint64(i)
			}
		}()
		size := uint64(b.size)
		check(receive(channels, b.size) == size*(size-1)/2)
	})
}

const cancelChildren = 10

type node struct {
	context context.Context
	cancel  context.CancelFunc
}

// Node i is the parent of 10 i + 1 to 10 i + 10; node 0 is the root.
func makeTree(size int) []node {
	nodes := make([]node, size)
	parent := context.Background()
	for i := range nodes {
		if i > 0 {
			parent = nodes[(i-1)/cancelChildren].context
		}
		nodes[i].context, nodes[i].cancel = context.WithCancel(parent)
	}
	return nodes
}

// How long it took until all knew that the root was cancelled.
func makeAndCancel(size int) int64 {
	nodes := makeTree(size)
	leaves := nodes[(size-2)/cancelChildren+1:]
	var waiting atomic.Int64
	var group sync.WaitGroup
	group.Add(len(leaves))
	for i := range leaves {
		go func() {
			done := leaves[i].context.Done()
			waiting.Add(1)
			<-done
			group.Done()
		}()
	}
	for waiting.Load() < int64(len(leaves)) {
		runtime.Gosched()
	}
	before := time.Now()
	nodes[0].cancel()
	group.Wait()
	return time.Since(before).Nanoseconds()
}

// Records the whole, and as cancel_ns_per_op only from the call of cancel() on.
func cancelTree(b *bench) {
	var cancelling []int64
	b.measure(b.size, func() {
		cancelling = append(cancelling, makeAndCancel(b.size))
	})
	b.record("cancel_ns_per_op", percentile(cancelling[1:], 0.5)/float64(b.size))
}
