// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Channels and locks. A row's name says how many senders and receivers, which
// capacity (u: none) and how many bytes in a message.

func sendAndReceive[T any](b *bench, senders, receivers, capacity int,
	makeOne func(uint64) T, number func(*T) uint64) {
	each := b.size / senders
	b.measure(b.size, func() {
		messages := make(chan T, capacity)
		var sending sync.WaitGroup
		sums := make(chan uint64, receivers)
		for i := 0; i < receivers; i++ {
			go func() {
				sum := uint64(0)
				for message := range messages {
					sum += number(&message)
				}
				sums <- sum
			}()
		}
		sending.Add(senders)
		for i := 0; i < senders; i++ {
			go func() {
				for n := 1; n <= each; n++ {
					messages <- makeOne(uint64(n))
				}
				sending.Done()
			}()
		}
		sending.Wait()
		close(messages)
		sum := uint64(0)
		for i := 0; i < receivers; i++ {
			sum += <-sums
		}
		check(sum == uint64(senders)*uint64(each)*uint64(each+1)/2)
	})
}

func uncontended(b *bench) {
	b.measure(b.size, func() {
		messages := make(chan uint64, 64)
		for i := 0; i < b.size; i++ {
			messages <- uint64(i)
			check(<-messages == uint64(i))
		}
	})
}

func channelPingPong(b *bench) {
	b.measure(b.size, func() {
		there, back := make(chan uint64, 1), make(chan uint64, 1)
		go func() {
			for message := range there {
				back <- message
			}
		}()
		for i := 0; i < b.size; i++ {
			there <- uint64(i)
			check(<-back == uint64(i))
		}
		close(there)
	})
}

var keep []chan uint64

func createChannels(b *bench, capacity int) {
	keep = make([]chan uint64, 1)
	b.measure(b.size, func() {
		for i := 0; i < b.size; i++ {
			keep[0] = make(chan uint64, capacity)
		}
	})
}

func channelBytes(b *bench, capacity int) {
	var before, after runtime.MemStats
	keep = make([]chan uint64, b.size)
	runtime.ReadMemStats(&before)
	for i := range keep {
		keep[i] = make(chan uint64, capacity)
	}
	runtime.ReadMemStats(&after)
	b.record("bytes", float64(after.HeapAlloc-before.HeapAlloc)/float64(b.size))
}

func channels(b *bench) {
	words := strings.Split(b.name, "_")[1:]
	capacity, err := strconv.Atoi(words[len(words)-1])
	switch words[0] {
	case "uncontended":
		uncontended(b)
		return
	case "chain":
		channelChain(b)
		return
	case "ping":
		channelPingPong(b)
		return
	case "create", "bytes":
		if err != nil {
			b.unsupported = "each channel has a capacity"
		} else if words[0] == "create" {
			createChannels(b, capacity)
		} else {
			channelBytes(b, capacity)
		}
		return
	}
	capacity, err = strconv.Atoi(words[1])
	if err != nil {
		b.unsupported = "each channel has a capacity"
		return
	}
	ends := strings.Split(words[0], "x")
	senders, _ := strconv.Atoi(ends[0])
	receivers, _ := strconv.Atoi(ends[1])
	if words[2] == "8" {
		sendAndReceive(b, senders, receivers, capacity,
			func(n uint64) uint64 { return n },
			func(message *uint64) uint64 { return *message })
	} else {
		sendAndReceive(b, senders, receivers, capacity,
			func(n uint64) [64]uint64 { return [64]uint64{n} },
			func(message *[64]uint64) uint64 { return message[0] })
	}
}

// Runs goroutines that each do something b.size / tasks times.
func inTasks(b *bench, tasks int, use func(count int)) {
	b.measure(b.size, func() {
		var group sync.WaitGroup
		group.Add(tasks)
		for i := 0; i < tasks; i++ {
			go func() {
				use(b.size / tasks)
				group.Done()
			}()
		}
		group.Wait()
	})
}

// Goroutines that lock, add and unlock.
func mutexes(b *bench, tasks int) {
	var mutex sync.Mutex
	sum := 0
	inTasks(b, tasks, func(count int) {
		for n := 0; n < count; n++ {
			mutex.Lock()
			sum++
			mutex.Unlock()
		}
	})
}

var keepSum int

func readers(b *bench, tasks int) {
	var lock sync.RWMutex
	shared := 0
	inTasks(b, tasks, func(count int) {
		sum := 0
		for n := 0; n < count; n++ {
			lock.RLock()
			sum += shared
			lock.RUnlock()
		}
		if sum != 0 {
			keepSum = sum
		}
	})
}

func writers(b *bench, tasks int) {
	var lock sync.RWMutex
	sum := 0
	inTasks(b, tasks, func(count int) {
		for n := 0; n < count; n++ {
			lock.Lock()
			sum++
			lock.Unlock()
		}
	})
}

func locks(b *bench) {
	words := strings.Split(b.name, "_")
	tasks, _ := strconv.Atoi(words[len(words)-1])
	switch words[0] {
	case "mutex":
		mutexes(b, tasks)
	case "rwlock":
		if words[1] == "write" {
			writers(b, tasks)
		} else {
			readers(b, tasks)
		}
	default:
		b.unsupported = "no semaphore"
	}
}
