// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/shard_of.h"

#include <cstdint>
#include <string_view>

namespace weft::executor_internal {
namespace {

// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014): every bit of the key
// changes half of the result's.
uint64_t Mix(uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

// FNV-1a.
uint64_t HashOf(std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

int ShardOf(uint64_t key, int shards) {
  // The upper half of the hash, scaled to the number of shards.
  const uint64_t upper = Mix(key) >> 32;
  return static_cast<int>((upper * static_cast<uint64_t>(shards)) >> 32);
}

int ShardOf(std::string_view key, int shards) {
  return ShardOf(HashOf(key), shards);
}

}  // namespace weft::executor_internal
