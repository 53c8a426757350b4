// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// When a goroutine runs, what it costs to be idle, what a suspended one takes.

func measureWakes(b *bench) {
	var latencies []int64
	for i := 0; i < b.size; i++ {
		sent := make(chan time.Time, 1)
		latency := make(chan int64, 1)
		go func() {
			latency <- time.Since(<-sent).Nanoseconds()
		}()
		time.Sleep(200 * time.Microsecond)
		sent <- time.Now()
		latencies = append(latencies, <-latency)
	}
	b.recordLatency(latencies)
}

func wakeLatency(b *bench) { measureWakes(b) }

func wakeLatencyBusy(b *bench) {
	var stop atomic.Bool
	for i := 0; i < 2*b.workers; i++ {
		go func() {
			for !stop.Load() {
				runtime.Gosched()
				stall()
			}
		}()
	}
	measureWakes(b)
	stop.Store(true)
}

func fairness(b *bench) {
	const steps = 10_000
	progress := make([]atomic.Int64, b.size)
	var next, slowest atomic.Int64
	var finished atomic.Bool
	spawnAndJoin(b.size, func() {
		own := next.Add(1) - 1
		for i := 0; i < steps; i++ {
			runtime.Gosched()
			progress[own].Add(1)
		}
		if finished.Swap(true) {
			return
		}
		least := int64(steps)
		for i := range progress {
			least = min(least, progress[i].Load())
		}
		slowest.Store(least)
	})
	b.record("spread", float64(steps)/float64(slowest.Load()+1))
}

func memoryPerTask(b *bench) {
	var suspended atomic.Int64
	never := make(chan struct{})
	before := readStatus("/proc/self/status", "VmRSS")
	for i := 0; i < b.size; i++ {
		go func() {
			suspended.Add(1)
			<-never
		}()
	}
	for suspended.Load() < int64(b.size) {
		time.Sleep(time.Millisecond)
	}
	kib := readStatus("/proc/self/status", "VmRSS") - before
	b.record("bytes_per_task", kib*1024/float64(b.size))
}

func contextSwitches() float64 {
	threads, _ := os.ReadDir("/proc/self/task")
	sum := 0.0
	for _, thread := range threads {
		sum += readStatus("/proc/self/task/"+thread.Name()+"/status", "ctxt_switches")
	}
	return sum
}

func idleCPU(b *bench) {
	never := make(chan struct{})
	go func() { <-never }()
	time.Sleep(200 * time.Millisecond)
	// To count switches costs time, which is not to be counted.
	switchesBefore := contextSwitches()
	cpuBefore := cpuNs()
	time.Sleep(time.Duration(b.size) * time.Second)
	cpu := cpuNs() - cpuBefore
	b.record("cpu_us", float64(cpu)/1000)
	b.record("context_switches", contextSwitches()-switchesBefore)
}
