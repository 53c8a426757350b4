// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/compute_cases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "weft/bench/executor/common.h"
#include "weft/runtime/runtime.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

// Spawns the first child, awaits the second where it is. No cut-off.
Task<uint64_t> Fib(uint64_t n) {
  if (n < 2) co_return n;
  JoinHandle<uint64_t> first = Spawn(Fib(n - 1));
  const uint64_t second = co_await Fib(n - 2);
  co_return second + co_await first;
}

uint64_t PlainFib(uint64_t n) {
  return n < 2 ? n : PlainFib(n - 1) + PlainFib(n - 2);
}

void MeasureFib(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const uint64_t expected = PlainFib(bench.size());
  // The number of calls.
  bench.Measure(2 * PlainFib(bench.size() + 1) - 1, [&] {
    const uint64_t n = runtime.BlockOn(runtime.Spawn(Fib(bench.size())));
    WEFT_CHECK(n == expected, "fib is wrong");
  });
}

constexpr uint64_t kFanOut = 10;

// The sum of the numbers of `leaves` leaves from `first` on.
Task<uint64_t> Skynet(uint64_t first, uint64_t leaves) {
  if (leaves == 1) co_return first;
  std::vector<JoinHandle<uint64_t>> children;
  children.reserve(kFanOut);
  const uint64_t step = leaves / kFanOut;
  for (uint64_t i = 0; i < kFanOut; ++i) {
    children.push_back(Spawn(Skynet(first + i * step, step)));
  }
  uint64_t sum = 0;
  for (JoinHandle<uint64_t>& child : children) sum += co_await child;
  co_return sum;
}

void MeasureSkynet(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  uint64_t leaves = 1;
  for (size_t i = 0; i < bench.size(); ++i) leaves *= kFanOut;
  bench.Measure((leaves * kFanOut - 1) / (kFanOut - 1), [&] {
    const uint64_t sum = runtime.BlockOn(runtime.Spawn(Skynet(0, leaves)));
    WEFT_CHECK(sum == leaves * (leaves - 1) / 2, "skynet is wrong");
  });
}

// The columns of the queens in the rows so far.
struct Board {
  std::array<uint8_t, 16> columns{};
  uint8_t rows = 0;

  bool Allows(uint8_t column) const {
    for (int row = 0; row < rows; ++row) {
      const int distance = columns[row] - column;
      const int height = rows - row;
      if (distance == 0 || distance == height || distance == -height) {
        return false;
      }
    }
    return true;
  }
  Board With(uint8_t column) const {
    Board next = *this;
    next.columns[next.rows++] = column;
    return next;
  }
};

// The number of solutions. A task for each queen that can be placed.
Task<uint64_t> Queens(Board board, uint8_t n) {
  if (board.rows == n) co_return 1;
  std::vector<JoinHandle<uint64_t>> children;
  children.reserve(n);
  for (uint8_t column = 0; column < n; ++column) {
    if (board.Allows(column)) {
      children.push_back(Spawn(Queens(board.With(column), n)));
    }
  }
  uint64_t solutions = 0;
  for (JoinHandle<uint64_t>& child : children) solutions += co_await child;
  co_return solutions;
}

// How many tasks that takes.
uint64_t CountQueens(const Board& board, uint8_t n) {
  uint64_t tasks = 1;
  if (board.rows == n) return tasks;
  for (uint8_t column = 0; column < n; ++column) {
    if (board.Allows(column)) tasks += CountQueens(board.With(column), n);
  }
  return tasks;
}

void MeasureQueens(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const uint8_t n = static_cast<uint8_t>(bench.size());
  uint64_t solutions = 0;
  bench.Measure(CountQueens(Board(), n), [&] {
    solutions = runtime.BlockOn(runtime.Spawn(Queens(Board(), n)));
  });
  bench.Record("solutions", static_cast<double>(solutions));
}

// Square parts of three matrices with rows of `stride` numbers.
struct Product {
  const int32_t* a;
  const int32_t* b;
  int32_t* c;
  size_t n;
  size_t stride;

  // The part with these offsets, in halves of the side.
  Product Quarter(size_t row, size_t column, size_t inner) const {
    const size_t half = n / 2;
    return {a + (row * stride + inner) * half,
            b + (inner * stride + column) * half,
            c + (row * stride + column) * half, half, stride};
  }
};

// Not inlined: in the coroutine its variables would live in the frame, and the
// compiler would not vectorise the loop.
ABSL_ATTRIBUTE_NOINLINE void MultiplyAdd(Product p) {
  for (size_t i = 0; i < p.n; ++i) {
    int32_t* const to = p.c + i * p.stride;
    for (size_t k = 0; k < p.n; ++k) {
      const int32_t factor = p.a[i * p.stride + k];
      const int32_t* const from = p.b + k * p.stride;
      for (size_t j = 0; j < p.n; ++j) to[j] += factor * from[j];
    }
  }
}

// c += a * b: four quarters of c at a time, twice.
Task<> Multiply(Product product) {
  constexpr size_t kLeaf = 32;
  if (product.n <= kLeaf) {
    MultiplyAdd(product);
    co_return;
  }
  for (size_t inner = 0; inner < 2; ++inner) {
    std::vector<JoinHandle<>> children;
    children.reserve(4);
    for (size_t i = 0; i < 4; ++i) {
      children.push_back(Spawn(Multiply(product.Quarter(i / 2, i % 2, inner))));
    }
    for (JoinHandle<>& child : children) co_await child;
  }
}

void MeasureMatmul(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const size_t n = bench.size();
  const std::vector<int32_t> a(n * n, 1), b(n * n, 1);
  std::vector<int32_t> c(n * n);
  uint64_t tasks = 1;
  for (size_t side = n, level = 8; side > 32; side /= 2, level *= 8) {
    tasks += level;
  }
  bench.Measure(tasks, [&] {
    std::fill(c.begin(), c.end(), 0);
    const Product all{a.data(), b.data(), c.data(), n, n};
    runtime.BlockOn(runtime.Spawn(Multiply(all)));
    WEFT_CHECK(c[n * n - 1] == static_cast<int32_t>(n), "matmul is wrong");
  });
}

constexpr Case kCases[] = {
    {"fib", MeasureFib},
    {"skynet", MeasureSkynet},
    {"nqueens", MeasureQueens},
    {"matmul", MeasureMatmul},
};

}  // namespace

std::span<const Case> ComputeCases() { return kCases; }

}  // namespace weft::bench
