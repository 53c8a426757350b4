// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"sync"
)

// Channels with one receiver, as Tokio's sync_mpsc has them, and oneshots.

const (
	mpscSenders = 5
	million     = 1_000_000
)

var keepMessages []chan [64]uint64

func createMessages(b *bench, capacity int) {
	keepMessages = make([]chan [64]uint64, 1)
	b.measure(b.size, func() {
		for i := 0; i < b.size; i++ {
			keepMessages[0] = make(chan [64]uint64, capacity)
		}
	})
}

func makeSendReceive[T any](b *bench) {
	b.measure(b.size, func() {
		for i := 0; i < b.size; i++ {
			messages := make(chan T, 1000)
			var message T
			messages <- message
			<-messages
		}
	})
}

func contention(b *bench, capacity int) {
	each := b.size / mpscSenders
	b.measure(mpscSenders*each, func() {
		messages := make(chan uint64, capacity)
		var sending sync.WaitGroup
		sending.Add(mpscSenders)
		for i := 0; i < mpscSenders; i++ {
			go func() {
				for n := 0; n < each; n++ {
					messages <- uint64(n)
				}
				sending.Done()
			}()
		}
		for n := 0; n < mpscSenders*each; n++ {
			<-messages
		}
		sending.Wait()
	})
}

func sendThenReceive(b *bench, capacity int) {
	b.measure(b.size, func() {
		messages := make(chan uint64, capacity)
		for n := 0; n < b.size; n++ {
			messages <- uint64(n)
		}
		for n := 0; n < b.size; n++ {
			<-messages
		}
	})
}

func mpsc(b *bench) {
	words := strings.Split(b.name, "_")[1:]
	switch {
	case words[len(words)-1] == "many":
		b.unsupported = "receives one message at a time"
	case words[1] == "unbounded":
		b.unsupported = "each channel has a capacity"
	case words[0] == "create":
		capacity, _ := strconv.Atoi(words[1])
		createMessages(b, capacity)
	case words[0] == "send" && words[1] == "512":
		makeSendReceive[[64]uint64](b)
	case words[0] == "send":
		makeSendReceive[[4096]uint64](b)
	case words[0] == "uncontended":
		sendThenReceive(b, million)
	case words[1] == "full":
		contention(b, 100)
	default:
		contention(b, million)
	}
}

func oneshot(b *bench) {
	b.measure(b.size, func() {
		for i := 0; i < b.size; i++ {
			reply := make(chan uint64, 1)
			reply <- uint64(i)
			check(<-reply == uint64(i))
		}
	})
}

func requestReply(b *bench) {
	b.measure(b.size, func() {
		requests := make(chan chan uint64, 10)
		go func() {
			number := uint64(0)
			for request := range requests {
				request <- number
				number++
			}
		}()
		for i := 0; i < b.size; i++ {
			reply := make(chan uint64, 1)
			requests <- reply
			check(<-reply == uint64(i))
		}
		close(requests)
	})
}

func passOn(from, to chan uint64, count int) {
	for i := 0; i < count; i++ {
		to <- <-from
	}
}

// One message at a time, through as many goroutines.
func channelChain(b *bench) {
	b.measure(b.size*b.size, func() {
		first := make(chan uint64, 1)
		last := first
		for i := 0; i < b.size; i++ {
			next := make(chan uint64, 1)
			go passOn(last, next, b.size)
			last = next
		}
		for i := 0; i < b.size; i++ {
			first <- uint64(i)
			check(<-last == uint64(i))
		}
	})
}
