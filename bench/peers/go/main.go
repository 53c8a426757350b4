// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The benchmarks on Go's goroutines. Names and parameters are those of
// weft's program; see bench/README.md.
package main

import (
	"runtime"
	"strings"
)

var cases = map[string]func(*bench){
	"spawn_many_local":  spawnManyLocal,
	"yield_many":        yieldMany,
	"ping_pong":         pingPong,
	"chained_spawn":     chainedSpawn,
	"spawn_recursively": spawnRecursively,
	"yield_now":         yieldNow,
	"fib":               fib,
	"skynet":            skynet,
	"nqueens":           nqueens,
	"matmul":            matmul,
	"flat_spawn":        flatSpawn,
	"flat_spawn_many":   flatSpawn,
	"memory_per_task":   memoryPerTask,
	"wake_latency":      wakeLatency,
	"wake_latency_busy": wakeLatencyBusy,
	"fairness":          fairness,
	"idle_cpu":          idleCPU,
}

const (
	noOutside = "goroutines are spawned by goroutines only"
	noSingle  = "no executor that stays on one thread"
)

var unsupported = map[string]string{
	"spawn_many_remote_idle":    noOutside,
	"spawn_many_remote_busy1":   noOutside,
	"spawn_many_remote_busy2":   noOutside,
	"remote_spawn":              noOutside,
	"mt_spawn":                  noOutside,
	"spawn_one":                 noOutside,
	"spawn_batch":               noOutside,
	"spawn_many":                noOutside,
	"ct_spawn":                  noSingle,
	"ct_spawn_many_local":       noSingle,
	"ct_spawn_many_remote_idle": noSingle,
	"ct_spawn_many_remote_busy": noSingle,
	"local_spawn":               noSingle,
	"create":                    "its scheduler is global",
	"spawn_blocking":            "a goroutine may block; there is no pool",
}

// The suite sync: what runs the rows whose names begin so.
var families = map[string]func(*bench){
	"cancel":    cancelTree,
	"channel":   channels,
	"mpsc":      mpsc,
	"mutex":     locks,
	"notify":    notify,
	"oneshot":   oneshot,
	"request":   requestReply,
	"rwlock":    locks,
	"select":    selects,
	"semaphore": locks,
	"waiters":   waiters,
}

var unsupportedFamilies = map[string]string{
	"broadcast": "a message goes to one receiver",
	"watch":     "no watch",
}

func main() {
	b := parse()
	runtime.GOMAXPROCS(b.workers)
	family, _, _ := strings.Cut(b.name, "_")
	if reason, ok := unsupported[b.name]; ok {
		b.unsupported = reason
	} else if run, ok := cases[b.name]; ok {
		run(b)
	} else if reason, ok := unsupportedFamilies[family]; ok {
		b.unsupported = reason
	} else if run, ok := families[family]; ok {
		run(b)
	} else {
		fail("no such case: " + b.name)
	}
	b.print()
}
