// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

// Trees of goroutines that await their children. Results come by channels.

// Spawns the first child, calls the second.
func fibTask(n int) int {
	if n < 2 {
		return n
	}
	first := make(chan int, 1)
	go func() { first <- fibTask(n - 1) }()
	second := fibTask(n - 2)
	return second + <-first
}

func plainFib(n int) int {
	if n < 2 {
		return n
	}
	return plainFib(n-1) + plainFib(n-2)
}

func check(ok bool) {
	if !ok {
		fail("a wrong result")
	}
}

func fib(b *bench) {
	expected := plainFib(b.size)
	b.measure(2*plainFib(b.size+1)-1, func() { check(fibTask(b.size) == expected) })
}

const fanOut = 10

func skynetTask(first, leaves int, result chan int) {
	if leaves == 1 {
		result <- first
		return
	}
	children := make(chan int, fanOut)
	step := leaves / fanOut
	for i := 0; i < fanOut; i++ {
		go skynetTask(first+i*step, step, children)
	}
	sum := 0
	for i := 0; i < fanOut; i++ {
		sum += <-children
	}
	result <- sum
}

func skynet(b *bench) {
	leaves := 1
	for i := 0; i < b.size; i++ {
		leaves *= fanOut
	}
	b.measure((leaves*fanOut-1)/(fanOut-1), func() {
		result := make(chan int, 1)
		go skynetTask(0, leaves, result)
		check(<-result == leaves*(leaves-1)/2)
	})
}

type board struct {
	columns [16]uint8
	rows    uint8
}

func (b *board) allows(column int) bool {
	for row := 0; row < int(b.rows); row++ {
		distance := int(b.columns[row]) - column
		height := int(b.rows) - row
		if distance == 0 || distance == height || distance == -height {
			return false
		}
	}
	return true
}

func (b board) with(column int) board {
	b.columns[b.rows] = uint8(column)
	b.rows++
	return b
}

func queens(b board, n int, result chan int) {
	if int(b.rows) == n {
		result <- 1
		return
	}
	children := make(chan int, n)
	spawned := 0
	for column := 0; column < n; column++ {
		if b.allows(column) {
			spawned++
			go queens(b.with(column), n, children)
		}
	}
	solutions := 0
	for ; spawned > 0; spawned-- {
		solutions += <-children
	}
	result <- solutions
}

func countQueens(b board, n int) int {
	tasks := 1
	for column := 0; int(b.rows) < n && column < n; column++ {
		if b.allows(column) {
			tasks += countQueens(b.with(column), n)
		}
	}
	return tasks
}

func nqueens(b *bench) {
	solutions := 0
	b.measure(countQueens(board{}, b.size), func() {
		result := make(chan int, 1)
		go queens(board{}, b.size, result)
		solutions = <-result
	})
	b.record("solutions", float64(solutions))
}

// Square parts of three matrices with rows of stride numbers.
type product struct {
	a, b, c   []int32
	n, stride int
}

// The part with these offsets, in halves of the side.
func (p product) quarter(row, column, inner int) product {
	half := p.n / 2
	at := func(row, column int) int { return (row*p.stride + column) * half }
	return product{
		p.a[at(row, inner):], p.b[at(inner, column):], p.c[at(row, column):], half, p.stride,
	}
}

func (p product) multiplyAdd() {
	for i := 0; i < p.n; i++ {
		to := p.c[i*p.stride : i*p.stride+p.n]
		for k := 0; k < p.n; k++ {
			factor := p.a[i*p.stride+k]
			from := p.b[k*p.stride : k*p.stride+p.n]
			for j := range to {
				to[j] += factor * from[j]
			}
		}
	}
}

func multiply(p product, done chan struct{}) {
	const leaf = 32
	if p.n <= leaf {
		p.multiplyAdd()
	} else {
		children := make(chan struct{}, 4)
		for inner := 0; inner < 2; inner++ {
			for i := 0; i < 4; i++ {
				go multiply(p.quarter(i/2, i%2, inner), children)
			}
			for i := 0; i < 4; i++ {
				<-children
			}
		}
	}
	done <- struct{}{}
}

func matmul(b *bench) {
	n := b.size
	x, y, z := make([]int32, n*n), make([]int32, n*n), make([]int32, n*n)
	for i := range x {
		x[i], y[i] = 1, 1
	}
	tasks := 1
	for side, level := n, 8; side > 32; side, level = side/2, level*8 {
		tasks += level
	}
	b.measure(tasks, func() {
		clear(z)
		done := make(chan struct{}, 1)
		go multiply(product{x, y, z, n, n}, done)
		<-done
		check(z[n*n-1] == int32(n))
	})
}
