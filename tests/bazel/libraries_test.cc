// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The other system libraries: each header is found by the name a source build
// gives it, and what it declares links.

#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "blockingconcurrentqueue.h"
#include "concurrentqueue.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http_parser.h"

namespace {

TEST(LibrariesTest, ConcurrentQueue) {
  moodycamel::ConcurrentQueue<int> queue;
  moodycamel::BlockingConcurrentQueue<int> blocking;
  queue.enqueue(1);
  blocking.enqueue(2);

  int out = 0;
  EXPECT_TRUE(queue.try_dequeue(out));
  EXPECT_EQ(out, 1);
  blocking.wait_dequeue(out);
  EXPECT_EQ(out, 2);
}

TEST(LibrariesTest, GoogleMock) {
  EXPECT_THAT(std::vector<int>({1, 2}), testing::ElementsAre(1, 2));
}

TEST(LibrariesTest, Benchmark) {
  benchmark::RegisterBenchmark("b", [](benchmark::State& state) {
    for (auto _ : state) {
    }
  });
  char program[] = "program";
  char flag[] = "--benchmark_min_time=0.001";
  char* arguments[] = {program, flag, nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);

  EXPECT_EQ(benchmark::RunSpecifiedBenchmarks("b"), 1u);
}

TEST(LibrariesTest, HttpParser) {
  http_parser parser;
  http_parser_init(&parser, HTTP_REQUEST);
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  const std::string request = "GET / HTTP/1.1\r\n\r\n";

  EXPECT_EQ(
      http_parser_execute(&parser, &settings, request.data(), request.size()),
      request.size());
  EXPECT_EQ(parser.method, HTTP_GET);
}

}  // namespace
