// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

//! Trees of tasks that await their children.

use crate::{Bench, Runtime};

/// Spawns the first child, awaits the second where it is.
async fn fib_task<R: Runtime>(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let first = spawn_fib::<R>(n - 1);
    let second = Box::pin(fib_task::<R>(n - 2)).await;
    second + first.await
}

fn spawn_fib<R: Runtime>(n: u64) -> R::Handle<u64> {
    R::spawn(fib_task::<R>(n))
}

fn plain_fib(n: u64) -> u64 {
    if n < 2 {
        n
    } else {
        plain_fib(n - 1) + plain_fib(n - 2)
    }
}

pub fn fib<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size as u64;
    bench.measure(2 * plain_fib(n + 1) as usize - 1, || {
        let result = runtime.block_on(runtime.spawn_outside(fib_task::<R>(n)));
        assert_eq!(result, plain_fib(n));
    });
}

const FAN_OUT: u64 = 10;

async fn skynet_task<R: Runtime>(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let step = leaves / FAN_OUT;
    let mut children = Vec::with_capacity(FAN_OUT as usize);
    for i in 0..FAN_OUT {
        children.push(spawn_skynet::<R>(first + i * step, step));
    }
    let mut sum = 0;
    for child in children {
        sum += child.await;
    }
    sum
}

fn spawn_skynet<R: Runtime>(first: u64, leaves: u64) -> R::Handle<u64> {
    R::spawn(skynet_task::<R>(first, leaves))
}

pub fn skynet<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let leaves = FAN_OUT.pow(bench.size as u32);
    bench.measure(((leaves * FAN_OUT - 1) / (FAN_OUT - 1)) as usize, || {
        let sum = runtime.block_on(runtime.spawn_outside(skynet_task::<R>(0, leaves)));
        assert_eq!(sum, leaves * (leaves - 1) / 2);
    });
}

#[derive(Clone, Copy, Default)]
struct Board {
    columns: [u8; 16],
    rows: u8,
}

impl Board {
    fn allows(&self, column: u8) -> bool {
        (0..self.rows).all(|row| {
            let distance = self.columns[row as usize].abs_diff(column);
            distance != 0 && distance != self.rows - row
        })
    }

    fn with(&self, column: u8) -> Board {
        let mut next = *self;
        next.columns[next.rows as usize] = column;
        next.rows += 1;
        next
    }
}

async fn queens<R: Runtime>(board: Board, n: u8) -> u64 {
    if board.rows == n {
        return 1;
    }
    let mut children = Vec::with_capacity(n as usize);
    for column in 0..n {
        if board.allows(column) {
            children.push(spawn_queens::<R>(board.with(column), n));
        }
    }
    let mut solutions = 0;
    for child in children {
        solutions += child.await;
    }
    solutions
}

fn spawn_queens<R: Runtime>(board: Board, n: u8) -> R::Handle<u64> {
    R::spawn(queens::<R>(board, n))
}

fn count_queens(board: Board, n: u8) -> usize {
    if board.rows == n {
        return 1;
    }
    let places = (0..n).filter(|&column| board.allows(column));
    1 + places.map(|column| count_queens(board.with(column), n)).sum::<usize>()
}

pub fn nqueens<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size as u8;
    let mut solutions = 0;
    bench.measure(count_queens(Board::default(), n), || {
        let root = queens::<R>(Board::default(), n);
        solutions = runtime.block_on(runtime.spawn_outside(root));
    });
    bench.record("solutions", solutions as f64);
}

/// Square parts of three matrices with rows of `stride` numbers.
#[derive(Clone, Copy)]
struct Product {
    a: *const i32,
    b: *const i32,
    c: *mut i32,
    n: usize,
    stride: usize,
}

// Tasks that run at the same time write different parts of c.
unsafe impl Send for Product {}

impl Product {
    /// The part with these offsets, in halves of the side.
    fn quarter(&self, row: usize, column: usize, inner: usize) -> Product {
        let half = self.n / 2;
        let at = |row: usize, column: usize| (row * self.stride + column) * half;
        unsafe {
            Product {
                a: self.a.add(at(row, inner)),
                b: self.b.add(at(inner, column)),
                c: self.c.add(at(row, column)),
                n: half,
                stride: self.stride,
            }
        }
    }

    fn multiply_add(&self) {
        for i in 0..self.n {
            for k in 0..self.n {
                unsafe {
                    let factor = *self.a.add(i * self.stride + k);
                    let from = self.b.add(k * self.stride);
                    let to = self.c.add(i * self.stride);
                    for j in 0..self.n {
                        *to.add(j) += factor * *from.add(j);
                    }
                }
            }
        }
    }
}

async fn multiply<R: Runtime>(product: Product) {
    const LEAF: usize = 32;
    if product.n <= LEAF {
        return product.multiply_add();
    }
    for inner in 0..2 {
        let mut children = Vec::with_capacity(4);
        for i in 0..4 {
            children.push(spawn_multiply::<R>(product.quarter(i / 2, i % 2, inner)));
        }
        for child in children {
            child.await;
        }
    }
}

fn spawn_multiply<R: Runtime>(product: Product) -> R::Handle<()> {
    R::spawn(multiply::<R>(product))
}

pub fn matmul<R: Runtime>(bench: &mut Bench) {
    let runtime = R::start(bench);
    let n = bench.size;
    let a = vec![1; n * n];
    let b = vec![1; n * n];
    let mut c = vec![0; n * n];
    let (mut tasks, mut side, mut level) = (1, n, 8);
    while side > 32 {
        tasks += level;
        (side, level) = (side / 2, level * 8);
    }
    bench.measure(tasks, || {
        c.fill(0);
        let (a, b, c_part) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        let all = Product { a, b, c: c_part, n, stride: n };
        runtime.block_on(runtime.spawn_outside(multiply::<R>(all)));
        assert_eq!(c[n * n - 1], n as i32);
    });
}
