// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The protocol of a benchmark program: arguments, measuring, a line of JSON.
type bench struct {
	name                      string
	workers, size, iterations int
	unsupported               string
	records                   strings.Builder
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}

func parse() *bench {
	if len(os.Args) < 2 {
		fail("usage: CASE --workers=N --size=N --iterations=N [--io]")
	}
	b := &bench{name: os.Args[1], workers: 2, size: 1000, iterations: 10}
	for _, argument := range os.Args[2:] {
		flag, value, _ := strings.Cut(argument, "=")
		n, err := strconv.Atoi(value)
		switch {
		case flag == "--io": // there is always a network poller
		case err != nil:
			fail("not understood: " + argument)
		case flag == "--workers":
			b.workers = n
		case flag == "--size":
			b.size = n
		case flag == "--iterations":
			b.iterations = n
		default:
			fail("not understood: " + argument)
		}
	}
	return b
}

func (b *bench) record(key string, value float64) {
	fmt.Fprintf(&b.records, ",\"%s\":%g", key, value)
}

// Calls iteration, which does ops operations, once to warm up and then as often
// as asked.
func (b *bench) measure(ops int, iteration func()) {
	iteration()
	walls := make([]int64, 0, b.iterations)
	cpuBefore := cpuNs()
	for i := 0; i < b.iterations; i++ {
		before := time.Now()
		iteration()
		walls = append(walls, time.Since(before).Nanoseconds())
	}
	cpu := float64(cpuNs() - cpuBefore)
	n := float64(ops)
	b.record("ns_per_op", percentile(walls, 0.5)/n)
	b.record("min", float64(walls[0])/n)
	b.record("ops", n)
	b.record("cpu_ns_per_op", cpu/n/float64(b.iterations))
}

func (b *bench) recordLatency(ns []int64) {
	b.record("p50", percentile(ns, 0.5))
	b.record("p99", percentile(ns, 0.99))
	b.record("p999", percentile(ns, 0.999))
}

// Sorts its argument.
func percentile(ns []int64, p float64) float64 {
	sort.Slice(ns, func(i, j int) bool { return ns[i] < ns[j] })
	rank := int(math.Ceil(p * float64(len(ns))))
	return float64(ns[max(rank, 1)-1])
}

// The processor time of all threads so far.
func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// The sum of the fields of a status file whose name ends in field.
func readStatus(path, field string) float64 {
	text, _ := os.ReadFile(path)
	sum := 0.0
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		if strings.HasSuffix(name, field) && len(words) > 0 {
			n, _ := strconv.ParseFloat(words[0], 64)
			sum += n
		}
	}
	return sum
}

func (b *bench) print() {
	if b.unsupported != "" {
		fmt.Fprintf(&b.records, ",\"unsupported\":\"%s\"", b.unsupported)
	}
	rss := readStatus("/proc/self/status", "VmHWM")
	fmt.Printf("{\"case\":\"%s\"%s,\"max_rss_kb\":%g}\n", b.name, b.records.String(), rss)
}
